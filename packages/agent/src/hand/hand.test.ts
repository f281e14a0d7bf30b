import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import type { CommandResult } from '@hoodcloud/contracts/wire/agent-v1';
import { ArtifactKind, CommandSchema, CommandType, Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumOf } from '../host/file-hash.ts';
import { FakeHost } from '../runtime/fake/fake-host.ts';
import { FakeRuntime } from '../runtime/fake/fake-runtime.ts';
import { AttemptStore } from '../upgrade/attempt-store.ts';
import { UpgradeHandler } from '../upgrade/upgrade-handler.ts';
import { Hand } from './hand.ts';

const V1 = checksumOf('v1');
const CONFIG = '/etc/node/config.toml';
type FaultPoint = (name: string) => Promise<void>;

let folder: string;
let host: FakeHost;
let now: number;
let results: CommandResult[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-hand-'));
  host = new FakeHost(V1);
  host.configs.set(CONFIG, 'peers = 1');
  host.wanted = true;
  host.spawn();
  now = Date.UTC(2026, 0);
  results = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A new life of the agent, or of the command of an operator, on the same host and disk. */
async function life(faultPoint: FaultPoint = async () => undefined) {
  const store = await AttemptStore.open(folder, () => undefined);
  const environment = { store, log: pino({ level: 'silent' }), faultPoint, now: () => ++now };
  const component = { binaryName: 'node', dataDir: join(folder, 'data'), runtime: new FakeRuntime(host) };
  const handler: UpgradeHandler = new UpgradeHandler(environment, [component], {
    onProgress: (_, attemptId, progress) => hand.onProgress(attemptId, progress),
    onResult: (result) => results.push(result),
  });
  const hand: Hand = new Hand({ store, handler, now: () => ++now });
  return { store, handler, hand };
}

/** A life that is killed at a fault point: resolves when it stands still there. */
function killedAt(point: string, work: (alive: Awaited<ReturnType<typeof life>>) => Promise<unknown>): Promise<void> {
  return new Promise((reached, failed) => {
    const faultPoint = async (name: string) => {
      if (name !== point) return;
      reached();
      await new Promise(() => undefined);
    };
    life(faultPoint).then(async (alive) => {
      await work(alive);
      failed(new Error(`${point} was never reached`));
    }, failed);
  });
}

/** A command of the control plane for attempt `id`, from version `from` to `id`'s. */
function command(id: string, operation = Operation.UPGRADE, content: string | null = `peers = ${id}`) {
  const checksum = host.publish(`https://releases/${id}`, id, host.behaviours.get(checksumOf(id)) ?? 'runs');
  return create(CommandSchema, {
    commandId: `${operation}-${id}`,
    type: CommandType.UPGRADE,
    expiresInMs: 60_000,
    upgrade: {
      attemptId: `attempt-${id}`,
      operation,
      binaryName: 'node',
      sourceVersion: `before-${id}`,
      targetVersion: id,
      artifact: { kind: ArtifactKind.FILE, url: `https://releases/${id}`, checksum },
      configFiles: content === null ? [] : [{ path: CONFIG, content: Buffer.from(content) }],
    },
  });
}

async function upgraded(id: string): Promise<void> {
  const { handler } = await life();
  await handler.handle(command(id));
  expect(results.at(-1)?.outcome).toBe(Outcome.COMPLETED);
  await backupsOnDisk();
  host.downloads.clear(); // from here on there is no network
}

/** The fake keeps its backups in memory; where one is looked for, the folders are asked. */
async function backupsOnDisk(): Promise<void> {
  for (const dir of host.backups.keys()) await mkdir(dir, { recursive: true });
}

async function rollBack(attemptId: string | null = null): Promise<CommandResult> {
  const { hand } = await life();
  const { kind, attempt_id } = await hand.preview('node', attemptId);
  return hand.rollBack('node', { kind, attemptId: attempt_id, named: attemptId !== null }, () => undefined);
}

const running = () => [host.process?.checksum, host.process?.configs];
const asV1 = [V1, `${CONFIG}=peers = 1`];

describe('a rollback by hand', () => {
  it('puts binary and configs back from the local backup, without a network (A13)', async () => {
    await upgraded('v2');
    const result = await rollBack();
    expect(result).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: V1 });
    expect(running()).toEqual(asV1);
  });

  it('says before what it will do, and that changes nothing', async () => {
    await upgraded('v2');
    const { hand } = await life();
    const before = [...host.journal];
    expect(await hand.preview('node', null)).toMatchObject({
      kind: 'go_back',
      attempt_id: 'attempt-v2',
      from: { version: 'v2' },
      to: { version: 'before-v2', checksum: V1 },
      steps: expect.arrayContaining([`put ${CONFIG} back as it was; remove it when it was not there`]),
    });
    expect(host.journal).toEqual(before);
  });

  it('tells its steps while it goes on', async () => {
    await upgraded('v2');
    const { hand } = await life();
    const seen: string[] = [];
    await hand.rollBack('node', { kind: 'go_back', attemptId: 'attempt-v2', named: false }, (p) => seen.push(p.action));
    expect([...new Set(seen)].slice(-2)).toEqual(['reload_daemon', 'start_node']);
  });

  it('said twice does not bring the left version back', async () => {
    await upgraded('v2');
    const { attemptId } = await rollBack();
    await expect(rollBack()).rejects.toMatchObject({ code: 'rolled_back_already' });
    expect(running()).toEqual(asV1);
    await backupsOnDisk();
    await rollBack(attemptId); // by its name it is taken back
    expect(host.process?.checksum).toBe(checksumOf('v2'));
  });

  it('goes back over several attempts to before the one that is named, configs included', async () => {
    await upgraded('v2');
    await upgraded('v3');
    expect(await rollBack('attempt-v2')).toMatchObject({ outcome: Outcome.COMPLETED });
    expect(running()).toEqual(asV1);
  });

  it('is undone by itself when the old version does not stay up any more', async () => {
    await upgraded('v2');
    host.behaviours.set(V1, 'crashes');
    expect(await rollBack()).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'start_failed' });
    expect(host.process?.checksum).toBe(checksumOf('v2'));
  });

  it('is refused before anything is stopped when the backup is not whole', async () => {
    await upgraded('v2');
    for (const [dir, backup] of host.backups) host.backups.set(dir, { ...backup, damaged: true });
    const before = [...host.journal];
    await expect(rollBack()).rejects.toMatchObject({ code: 'backup_gone' });
    expect(host.journal).toEqual(before);
  });

  it.each([
    ['before-undo', null],
    ['before:install_artifact', 'v1'],
    ['after:start_node', 'v1'],
  ])('killed at %s is finished by the next start of the agent, however late', async (point, version) => {
    await upgraded('v2');
    if (version === null) host.behaviours.set(V1, 'crashes');
    const agreed = { kind: 'go_back', attemptId: 'attempt-v2', named: false } as const;
    await killedAt(point, ({ hand }) => hand.rollBack('node', agreed, () => undefined));
    now += 30 * 86_400_000;
    await (await life()).handler.resume();
    await expect.poll(() => results.length, { timeout: 30_000 }).toBe(2);
    expect(host.process?.checksum).toBe(version === null ? checksumOf('v2') : V1);
  });

  it('killed in the middle is finished by the same command too', async () => {
    await upgraded('v2');
    const agreed = { kind: 'go_back', attemptId: 'attempt-v2', named: false } as const;
    await killedAt('before:write_configs', ({ hand }) => hand.rollBack('node', agreed, () => undefined));
    expect(await rollBack()).toMatchObject({ outcome: Outcome.COMPLETED });
    expect(running()).toEqual(asV1);
  });
});

describe('an attempt that a dead agent left open', () => {
  it('is undone, and the command of the control plane is answered with it', async () => {
    await killedAt('before:start_node', ({ handler }) => handler.handle(command('v2')));
    expect(host.process).toBeNull();
    await rollBack();
    expect(results.at(-1)).toMatchObject({
      commandId: `${Operation.UPGRADE}-v2`,
      outcome: Outcome.ROLLED_BACK,
      errorCode: 'rolled_back_by_hand',
    });
    expect(running()).toEqual(asV1);
  });

  it('is left to the agent that works on it', async () => {
    let proceed: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const { handler, hand } = await life((name) => (name === 'before:stop_node' ? stopped : Promise.resolve()));
    const upgrading = handler.handle(command('v2'));
    await expect
      .poll(() => hand.preview('node', null).catch(({ code }) => code), { timeout: 30_000 })
      .toBe('attempt_under_way');
    proceed();
    await upgrading;
    expect(host.process?.checksum).toBe(checksumOf('v2'));
  });

  it('whose undo had failed is undone once more', async () => {
    const fails = new Map<string, unknown>();
    await killedAt('before-undo:install_artifact', ({ handler }) => {
      host.behaviours.set(checksumOf('v2'), 'crashes');
      return handler.handle(command('v2'));
    });
    for (const [dir, backup] of host.backups) fails.set(dir, host.backups.set(dir, { ...backup, damaged: true }));
    await (await life()).handler.resume();
    await expect.poll(() => results.at(-1)?.outcome, { timeout: 30_000 }).toBe(Outcome.FAILED_ROLLBACK);
    for (const [dir, backup] of host.backups) host.backups.set(dir, { ...backup, damaged: false });
    expect(await rollBack()).toMatchObject({ outcome: Outcome.ROLLED_BACK });
    expect(running()).toEqual(asV1);
  });
});

describe('the control plane, when it is back', () => {
  it('gets "rolled back" for its COMPENSATE of what was rolled back by hand', async () => {
    await upgraded('v2');
    await rollBack();
    const starts = host.journal.filter((line) => line.startsWith('start')).length;
    await (await life()).handler.handle(command('v2', Operation.COMPENSATE));
    expect(results.at(-1)).toMatchObject({ outcome: Outcome.ROLLED_BACK, runningChecksum: V1 });
    expect(results.at(-1)?.errorMessage).toContain('an operator rolled it back on the host');
    expect(host.journal.filter((line) => line.startsWith('start'))).toHaveLength(starts);
  });

  it('is not told of a drift that the rollback made (E4)', async () => {
    await upgraded('v2');
    await rollBack();
    const next = command('v3');
    if (next.upgrade?.configFiles[0]) next.upgrade.configFiles[0].lastWrittenChecksum = checksumOf('peers = v2');
    await (await life()).handler.handle(next);
    expect(results.at(-1)).toMatchObject({ outcome: Outcome.COMPLETED });
    host.configs.set(CONFIG, 'edited');
    const after = command('v4');
    if (after.upgrade?.configFiles[0]) after.upgrade.configFiles[0].lastWrittenChecksum = checksumOf('peers = v3');
    await (await life()).handler.handle(after);
    expect(results.at(-1)).toMatchObject({ errorCode: 'config_drift' });
  });
});
