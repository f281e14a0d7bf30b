import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import {
  ArtifactKind,
  type Command,
  type CommandResult,
  CommandSchema,
  CommandType,
  Operation,
  Outcome,
} from '@hoodcloud/contracts/wire/agent-v1';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checksumOf } from '../host/file-hash.ts';
import { readProcess } from '../host/process-table.ts';
import { FakeHost } from '../runtime/fake/fake-host.ts';
import { FakeRuntime } from '../runtime/fake/fake-runtime.ts';
import { ActivationWatch } from './activation-watch.ts';
import { AttemptStore } from './attempt-store.ts';
import { StagedOrders } from './staged-orders.ts';
import { otherPlan, Staging } from './staging.ts';
import { UpgradeHandler } from './upgrade-handler.ts';

const URL = 'https://releases/new';
const ATTEMPT = 'rollout.node.1';

let folder: string;
let host: FakeHost;
let target: string;
let results: CommandResult[];
let calls: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-staging-'));
  host = new FakeHost(checksumOf('old binary'));
  host.wanted = true;
  host.spawn();
  host.journal.length = 0;
  target = host.publish(URL, 'new binary');
  results = [];
  calls = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A new life of the agent on the same host and disk. */
/** `at`: the hour that the watch of armed orders reads. */
async function agent(metricsUrl: string | null = null, at: () => number = Date.now) {
  const store = await AttemptStore.open(folder, () => undefined);
  const log = pino({ level: 'silent' });
  const environment = { store, log, faultPoint: async () => undefined, now: Date.now };
  const runtime = new FakeRuntime(host, (method) => calls.push(method));
  const component = { binaryName: 'node', dataDir: join(folder, 'data'), runtime };
  const reports = { onProgress: () => undefined, onResult: (result: CommandResult) => results.push(result) };
  const staging = new Staging(environment, await StagedOrders.open(folder), reports.onProgress);
  const handler = new UpgradeHandler(environment, [component], reports, staging);
  const watch = new ActivationWatch({
    orders: await StagedOrders.open(folder),
    components: [{ ...component, metricsUrl }],
    activate: (order) => handler.activate(order),
    tellOtherPlan: (order, message) => reports.onResult(otherPlan(order, message)),
    now: at,
    log,
  });
  return { handler, watch, handle: (one: Command) => handler.handle(one) };
}

/** Runs the watch until what is waited for is true. */
async function watching(watch: ActivationWatch, isThere: () => boolean): Promise<void> {
  const ending = new AbortController();
  const ended = watch.run(ending.signal);
  await vi.waitFor(() => expect(isThere()).toBe(true), { timeout: 30_000, interval: 20 });
  ending.abort();
  await ended;
}

function command(operation: Operation, attemptId = ATTEMPT, member = '', activation?: Armed) {
  const artifact = { kind: ArtifactKind.FILE, url: URL, checksum: target, member };
  const upgrade = {
    attemptId,
    operation,
    upgradeId: 'v2',
    binaryName: 'node',
    artifact,
    ...(activation && { activation }),
  };
  const commandId = `${Operation[operation]}-${attemptId}`;
  return create(CommandSchema, { commandId, type: CommandType.UPGRADE, expiresInMs: 60_000, upgrade });
}

interface Armed {
  readonly height: bigint;
  readonly planName: string;
  readonly heightMetric: string;
  readonly lapseAfterSeconds?: number;
}
const PLANNED: Armed = { height: 500n, planName: 'v19', heightMetric: '' };
const writePlan = async (name: string) => {
  await mkdir(join(folder, 'data'), { recursive: true });
  await writeFile(join(folder, 'data', 'upgrade-info.json'), JSON.stringify({ name, height: 500 }));
};

const last = () => results.at(-1);
const staged = () => readdir(join(folder, 'staged'));
const changes = () => host.journal.filter((line) => /^(stop|install|start|hold)/.test(line));

test('staging leaves the node as it is, and the upgrade then acquires nothing anew', async () => {
  const handler = await agent();
  await handler.handle(command(Operation.STAGE));
  expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, operation: Operation.STAGE, installedChecksum: target });
  expect(changes()).toEqual([]);
  expect(calls.filter((call) => call === 'acquireArtifact')).toHaveLength(1);
  await handler.handle(command(Operation.UPGRADE));
  expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: target });
  expect(calls.filter((call) => call === 'acquireArtifact')).toHaveLength(1);
  expect(await staged()).toEqual([]);
});

test('what was staged outlives the agent, and a member of an archive is found again (A6)', async () => {
  await (await agent()).handle(command(Operation.STAGE, ATTEMPT, 'bin/node'));
  calls.length = 0;
  await (await agent()).handle(command(Operation.UPGRADE, ATTEMPT, 'bin/node'));
  expect(last()).toMatchObject({ outcome: Outcome.COMPLETED });
  expect(calls).not.toContain('acquireArtifact');
});

test('a node that is not ready says why, and keeps nothing', async () => {
  host.downloads.delete(URL);
  await (await agent()).handle(command(Operation.STAGE));
  expect(last()).toMatchObject({ outcome: Outcome.REFUSED, operation: Operation.STAGE });
  expect(last()?.errorMessage).not.toBe('');
  expect(await staged()).toEqual([]);
  expect(host.acquired).toBeNull();
  expect(changes()).toEqual([]);
});

test('what is taken back is gone from the disk, and taking back twice is no trouble', async () => {
  const handler = await agent();
  await handler.handle(command(Operation.STAGE));
  await handler.handle(command(Operation.UNSTAGE));
  await handler.handle(command(Operation.UNSTAGE));
  expect(results.map(({ outcome }) => outcome)).toEqual([Outcome.COMPLETED, Outcome.COMPLETED, Outcome.COMPLETED]);
  expect(host.acquired).toBeNull();
  expect(await staged()).toEqual([]);
});

test('what was staged for another attempt makes room, and is not taken back by the earlier one', async () => {
  const handler = await agent();
  await handler.handle(command(Operation.STAGE, 'earlier.node.1'));
  await handler.handle(command(Operation.STAGE));
  await handler.handle(command(Operation.UNSTAGE, 'earlier.node.1'));
  expect(host.acquired).toBe(target);
  expect(await staged()).toHaveLength(1);
});

test('an attempt that has begun is neither staged nor taken back any more', async () => {
  const handler = await agent();
  await handler.handle(command(Operation.UPGRADE));
  for (const operation of [Operation.STAGE, Operation.UNSTAGE]) {
    await handler.handle(command(operation));
    expect(last()).toMatchObject({ outcome: Outcome.REFUSED, errorCode: 'already_begun' });
  }
});

test('a staged upgrade that fails leaves nothing of it on the disk', async () => {
  host.behaviours.set(target, 'crashes');
  const handler = await agent();
  await handler.handle(command(Operation.STAGE));
  await handler.handle(command(Operation.UPGRADE));
  expect(last()).toMatchObject({ outcome: Outcome.ROLLED_BACK });
  expect(host.acquired).toBeNull();
  expect(await staged()).toEqual([]);
});

test('an armed node is swapped when it wrote its plan, without its control plane, and the UPGRADE finds it done (B2)', async () => {
  const { handle, watch } = await agent();
  await handle(command(Operation.STAGE, ATTEMPT, '', PLANNED));
  await writePlan('v19');
  await watching(watch, () => results.length === 2);
  expect(last()).toMatchObject({ operation: Operation.UPGRADE, outcome: Outcome.COMPLETED, runningChecksum: target });
  const swapped = [...changes()];
  await handle(command(Operation.UPGRADE));
  expect(last()).toMatchObject({
    commandId: `UPGRADE-${ATTEMPT}`,
    outcome: Outcome.COMPLETED,
    runningChecksum: target,
  });
  expect(changes()).toEqual(swapped);
});

test('an armed node that stopped by itself runs again after the swap, though it was found stopped', async () => {
  const { handle, watch } = await agent();
  await handle(command(Operation.STAGE, ATTEMPT, '', PLANNED));
  host.process = null; // a clean exit, which the service manager does not bring back
  host.wanted = false;
  await writePlan('v19');
  await watching(watch, () => results.length === 2);
  expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, leftStopped: false, runningChecksum: target });
});

test('a plan of another name is told once and not acted on', async () => {
  const { handle, watch } = await agent();
  await handle(command(Operation.STAGE, ATTEMPT, '', PLANNED));
  await writePlan('v20');
  await watching(watch, () => results.length === 2);
  expect(last()).toMatchObject({ operation: Operation.STAGE, errorCode: 'other_plan', attemptId: ATTEMPT });
  expect(changes()).toEqual([]);
});

test('an armed order outlives the agent; one that was disarmed or taken back is carried out by nobody', async () => {
  await (await agent()).handle(command(Operation.STAGE, ATTEMPT, '', PLANNED));
  const { handle, watch, handler } = await agent();
  const [order] = await (await StagedOrders.open(folder)).list();
  if (order === undefined) throw new Error('nothing is staged');
  await handle(command(Operation.STAGE)); // without an activation: disarmed
  await handler.activate(order);
  await handle(command(Operation.UNSTAGE));
  await handler.activate(order);
  expect(changes()).toEqual([]);
  await handle(command(Operation.STAGE, ATTEMPT, '', PLANNED));
  await writePlan('v19');
  await watching(watch, () => last()?.operation === Operation.UPGRADE);
  expect(last()).toMatchObject({ outcome: Outcome.COMPLETED });
});

test('an armed order that nobody renewed lapses: its plan swaps nothing any more, until it is armed anew', async () => {
  let later = 0;
  const { handle, watch } = await agent(null, () => Date.now() + later);
  await handle(command(Operation.STAGE, ATTEMPT, '', { ...PLANNED, lapseAfterSeconds: 3_600 }));
  later = 3_600_000;
  await writePlan('v19');
  const ending = new AbortController();
  const looked = vi.spyOn(StagedOrders.prototype, 'of');
  const ended = watch.run(ending.signal);
  await vi.waitFor(() => expect(looked.mock.calls.length).toBeGreaterThan(1), { timeout: 30_000 });
  expect(changes()).toEqual([]);
  looked.mockRestore();
  later = 0;
  await vi.waitFor(() => expect(last()).toMatchObject({ operation: Operation.UPGRADE, outcome: Outcome.COMPLETED }), {
    timeout: 30_000,
  });
  ending.abort();
  await ended;
});

test('an armed node is swapped once its own metrics say that it is past the height', async () => {
  const self = await readProcess(process.pid);
  if (host.process === null || self === null) throw new Error('nothing runs');
  let height = 499;
  const metrics = createServer((_, response) => response.end(`# TYPE height gauge\nheight ${height}\n`));
  await new Promise<void>((listening) => metrics.listen(0, '127.0.0.1', listening));
  const { port } = metrics.address() as AddressInfo;
  const { handle, watch } = await agent(`http://127.0.0.1:${port}/metrics`);
  const activation = { height: 500n, planName: '', heightMetric: 'height' };
  await handle(command(Operation.STAGE, ATTEMPT, '', activation));
  Object.assign(host.process, { pid: self.pid, startedAt: self.startedAt }); // one that the look at /proc finds alive
  const ending = new AbortController();
  const ended = watch.run(ending.signal);
  const asked = vi.fn();
  metrics.on('request', asked);
  await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(3), { timeout: 30_000 });
  expect(changes()).toEqual([]);
  height = 501;
  await vi.waitFor(() => expect(last()?.operation).toBe(Operation.UPGRADE), { timeout: 30_000 });
  expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: target });
  ending.abort();
  await ended;
  metrics.close();
});
