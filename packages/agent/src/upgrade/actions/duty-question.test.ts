import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import {
  ArtifactKind,
  type CommandResult,
  CommandSchema,
  CommandType,
  HookPoint,
  HookSchema,
  Operation,
  Outcome,
  UpgradePayloadSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checksumOf } from '../../host/file-hash.ts';
import { FakeHost } from '../../runtime/fake/fake-host.ts';
import { FakeRuntime } from '../../runtime/fake/fake-runtime.ts';
import { AttemptStore } from '../attempt-store.ts';
import { UpgradeHandler } from '../upgrade-handler.ts';

const URL = 'https://releases/new';
const ATTEMPT = 'rollout.node.1';
const QUESTION = 'duty:window';
const NOT_YET = { code: 75, output: 'proposer in slot 12\nfree_in_seconds=0\n' };

let folder: string;
let host: FakeHost;
let results: CommandResult[];
let notes: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-duty-'));
  host = new FakeHost(checksumOf('old binary'));
  host.wanted = true;
  host.spawn();
  host.journal.length = 0;
  results = [];
  notes = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Upgrades the node; the hooks are as the wire brings them. */
async function upgrade(askAgain: { exitCodes?: number[]; longestWaitMs?: number } | null, point = HookPoint.DUTY) {
  const environment = {
    store: await AttemptStore.open(folder, () => undefined),
    log: pino({ level: 'silent' }),
    faultPoint: async () => undefined,
    now: () => 1_000_000,
  };
  const component = { binaryName: 'node', dataDir: join(folder, 'data'), runtime: new FakeRuntime(host) };
  const handler = new UpgradeHandler(environment, [component], {
    onProgress: (_command, _attempt, { action, note }) => {
      if (action === QUESTION) notes.push(note);
    },
    onResult: (result) => results.push(result),
  });
  const common = { command: ['{binary}', 'wait-for-restart-window'], timeoutMs: 5_000, repeatable: true };
  await handler.handle(
    create(CommandSchema, {
      commandId: 'command',
      type: CommandType.UPGRADE_WITH_HOOKS,
      expiresInMs: 600_000,
      upgrade: create(UpgradePayloadSchema, {
        attemptId: ATTEMPT,
        operation: Operation.UPGRADE,
        upgradeId: 'v2',
        binaryName: 'node',
        artifact: { kind: ArtifactKind.FILE, url: URL, checksum: host.publish(URL, 'new binary') },
        hooks: [
          create(HookSchema, {
            ...common,
            name: 'window',
            point,
            ...(askAgain && { askAgain: { exitCodes: [75], longestWaitMs: 60_000, ...askAgain } }),
          }),
        ],
      }),
    }),
  );
  return results.at(-1);
}

const asked = () => host.journal.filter((line) => line.startsWith('hook window')).length;
const states = () => results.at(-1)?.steps.map(({ actionName }) => actionName) ?? [];

it('a node that is on duty is not stopped before its program says that it is free', async () => {
  host.commandEnds.push(NOT_YET, NOT_YET);
  expect((await upgrade({}))?.outcome, results.at(-1)?.errorMessage).toBe(Outcome.COMPLETED);
  expect(asked()).toBe(3);
  expect(host.journal.indexOf('stop')).toBeGreaterThan(
    host.journal.lastIndexOf('hook window: {binary} wait-for-restart-window'),
  );
  expect(states().indexOf(QUESTION)).toBe(states().indexOf('stop_node') - 1);
  expect(notes).toContain('on duty (window): its next free window comes in about 0 s, asked again in 1 s');
});

it('a node that is never free stays as it is when the longest wait is over, and that is told apart', async () => {
  const before = host.process;
  host.commandEnds.push(NOT_YET, NOT_YET, NOT_YET);
  expect(await upgrade({ longestWaitMs: 500 })).toMatchObject({
    outcome: Outcome.ROLLED_BACK,
    errorCode: 'still_on_duty',
    failedAction: QUESTION,
    downtimeMs: 0,
  });
  expect(results.at(-1)?.errorMessage).toContain('so it was not stopped');
  expect(host.process).toEqual(before);
  expect(host.journal).not.toContain('stop');
});

it('no answer in time is "not yet"', async () => {
  host.commandEnds.push({ code: null, timedOut: true, output: 'free_in_seconds=0' });
  expect((await upgrade({}))?.outcome).toBe(Outcome.COMPLETED);
  expect(asked()).toBe(2);
});

it('any other exit status is no answer: what is not known is not free, and its words are kept', async () => {
  host.commandEnds.push({ code: 1, output: 'rpc: connection refused' });
  expect(await upgrade({})).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'hook_failed' });
  expect(results.at(-1)?.errorMessage).toContain('whether it is on duty (window) is not known');
  expect(asked()).toBe(1);
  expect(host.journal).not.toContain('stop');
  const log = join(folder, 'data/.upgrade-backup', ATTEMPT, 'duty-window.log');
  expect(await readFile(log, 'utf8')).toContain('rpc: connection refused');
});

it('a node that does not run has no duty to miss and is not asked', async () => {
  host.process = null;
  expect((await upgrade({}))?.outcome, results.at(-1)?.errorMessage).toBe(Outcome.COMPLETED);
  expect(asked()).toBe(0);
});

it.each([
  ['a question without a word on when it is asked again', HookPoint.DUTY, null],
  ['a step that is none and would be asked again', HookPoint.BEFORE_STOP, {}],
])('%s is refused, and nothing is touched', async (_, point, askAgain) => {
  expect(await upgrade(askAgain, point)).toMatchObject({ outcome: Outcome.REFUSED, errorCode: 'invalid_payload' });
  expect(results.at(-1)?.errorMessage).toContain('hooks[0].ask_again');
  expect(host.journal).toEqual([]);
});
