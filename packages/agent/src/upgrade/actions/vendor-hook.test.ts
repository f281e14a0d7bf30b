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
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentError } from '../../agent-error.ts';
import { checksumOf } from '../../host/file-hash.ts';
import { FakeHost } from '../../runtime/fake/fake-host.ts';
import { FakeRuntime } from '../../runtime/fake/fake-runtime.ts';
import { AttemptStore } from '../attempt-store.ts';
import { UpgradeHandler } from '../upgrade-handler.ts';

const URL = 'https://releases/new';
const ATTEMPT = 'rollout.node.1';
const COMPACT = ['{binary}', 'db', 'compact'];

let folder: string;
let host: FakeHost;
let target: string;
let results: CommandResult[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-hooks-'));
  host = new FakeHost(checksumOf('old binary'));
  host.wanted = true;
  host.spawn();
  host.journal.length = 0;
  target = host.publish(URL, 'new binary');
  results = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A life of the agent; `failing` are the calls of the host that fail. */
async function agent(
  failing: (call: string) => boolean = () => false,
  faultPoint: (name: string) => Promise<void> = async () => undefined,
) {
  const runtime = new FakeRuntime(host, (call) => {
    if (failing(call)) throw new AgentError('made_to_fail', `${call} was made to fail`);
  });
  const environment = {
    store: await AttemptStore.open(folder, () => undefined),
    log: pino({ level: 'silent' }),
    faultPoint,
    now: () => 1_000_000,
  };
  return new UpgradeHandler(environment, [{ binaryName: 'node', dataDir: join(folder, 'data'), runtime }], {
    onProgress: () => undefined,
    onResult: (result) => results.push(result),
  });
}

interface Wanted {
  readonly name: string;
  readonly point?: HookPoint;
  readonly undo?: string[];
  readonly repeatable?: boolean;
  readonly command?: string[];
}

function upgrade(hooks: readonly Wanted[], operation = Operation.UPGRADE) {
  return create(CommandSchema, {
    commandId: `command-${operation}`,
    type: CommandType.UPGRADE_WITH_HOOKS,
    expiresInMs: 600_000,
    upgrade: create(UpgradePayloadSchema, {
      attemptId: ATTEMPT,
      operation,
      upgradeId: 'v2',
      binaryName: 'node',
      artifact: { kind: ArtifactKind.FILE, url: URL, checksum: target },
      hooks: hooks.map((hook) =>
        create(HookSchema, { point: HookPoint.AFTER_INSTALL, command: COMPACT, timeoutMs: 5_000, ...hook }),
      ),
    }),
  });
}

const ran = () => host.journal.filter((line) => line.startsWith('hook '));
const steps = () => results.at(-1)?.steps.map(({ actionName, result }) => [actionName, result]) ?? [];

it('runs between the install and the start, and is one more step with its own result', async () => {
  await (await agent()).handle(upgrade([{ name: 'compact' }, { name: 'snapshot', point: HookPoint.BEFORE_STOP }]));
  expect(results.at(-1)?.outcome, results.at(-1)?.errorMessage).toBe(Outcome.COMPLETED);
  const names = steps().map(([name]) => name);
  expect(names.indexOf('before_stop:snapshot')).toBe(names.indexOf('stop_node') - 1);
  expect(names.indexOf('after_install:compact')).toBe(names.indexOf('start_node') - 1);
  expect(ran()).toEqual(['hook snapshot: {binary} db compact', 'hook compact: {binary} db compact']);
});

it('keeps what the step said beside the backup', async () => {
  await (await agent()).handle(upgrade([{ name: 'compact' }]));
  const log = join(folder, 'data/.upgrade-backup', ATTEMPT, 'after_install-compact.log');
  expect(await readFile(log, 'utf8')).toBe('{binary} db compact\ndone\n');
});

it('leaves the node untouched when it fails before the stop, and says in whose words', async () => {
  const before = host.process;
  await (await agent((call) => call.startsWith('hook'))).handle(
    upgrade([{ name: 'snapshot', point: HookPoint.BEFORE_STOP }]),
  );
  const result = results.at(-1);
  expect(result).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'hook_failed', downtimeMs: 0 });
  expect(result?.failedAction).toBe('before_stop:snapshot');
  expect(result?.errorMessage).toContain('was made to fail');
  expect(result?.logTail.join('\n')).toContain('was made to fail');
  expect(host.process).toEqual(before);
});

it('makes the upgrade undo itself exactly when it fails after the install, undone in reverse order', async () => {
  const before = host.snapshot();
  const hooks = ['first', 'second'].map((name) => ({ name, undo: ['{binary}', 'undo', name] }));
  await (await agent((call) => call === 'hook second: {binary} db compact')).handle(upgrade(hooks));
  expect(results.at(-1)).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'hook_failed' });
  expect(ran().slice(2)).toEqual(['hook second: {binary} undo second', 'hook first: {binary} undo first']);
  expect(host.snapshot()).toEqual(before);
  expect(host.process?.checksum).toBe(checksumOf('old binary'));
});

it('is undone by a COMPENSATE too, before the binary that its undo needs goes', async () => {
  await (await agent()).handle(upgrade([{ name: 'compact', undo: ['{binary}', 'undo'] }]));
  const installed = host.installed;
  let seen: string | null = null;
  const watching = await agent((call) => {
    if (call === 'hook compact: {binary} undo') seen = host.installed;
    return false;
  });
  await watching.handle(upgrade([{ name: 'compact', undo: ['{binary}', 'undo'] }], Operation.COMPENSATE));
  expect(results.at(-1)?.outcome).toBe(Outcome.ROLLED_BACK);
  expect(seen).toBe(installed);
});

it('stops where its undo fails: the old binary on what nobody put back is worse (spec "Per-Action Compensation")', async () => {
  const hook = { name: 'compact', undo: ['{binary}', 'undo'] };
  await (await agent((call) => call.startsWith('hook'))).handle(upgrade([hook]));
  expect(results.at(-1)?.outcome).toBe(Outcome.FAILED_ROLLBACK);
  expect(results.at(-1)?.errorMessage).toContain("the undo of the vendor's step compact");
});

describe('a step at after_health (ADR 0046)', () => {
  const check = {
    name: 'check',
    point: HookPoint.AFTER_HEALTH,
    command: ['{binary}', 'check'],
    undo: ['{binary}', 'uncheck'],
  };
  const fails = (call: string) => call === 'hook check: {binary} check';

  it('runs with the confirmation, not with the upgrade, once', async () => {
    await (await agent()).handle(upgrade([check]));
    expect(results.at(-1)?.outcome).toBe(Outcome.COMPLETED);
    expect(ran()).toEqual([]);
    await (await agent()).handle(upgrade([check], Operation.CONFIRM));
    await (await agent()).handle(upgrade([check], Operation.CONFIRM));
    expect(results.at(-1)).toMatchObject({ operation: Operation.CONFIRM, outcome: Outcome.COMPLETED });
    expect(ran()).toEqual(['hook check: {binary} check']);
    expect(steps()).toContainEqual(['after_health:check', 'executed']);
  });

  it('undoes the attempt when it fails, and the confirmation says so, told again too', async () => {
    const before = host.snapshot();
    await (await agent()).handle(upgrade([check]));
    const failing = await agent(fails);
    await failing.handle(upgrade([check], Operation.CONFIRM));
    await failing.handle(upgrade([check], Operation.CONFIRM));
    for (const result of results.slice(1)) {
      const told = { outcome: Outcome.ROLLED_BACK, errorCode: 'hook_failed', failedAction: 'after_health:check' };
      expect(result).toMatchObject({ operation: Operation.CONFIRM, ...told });
      expect(result.logTail.join('\n')).toContain('was made to fail');
    }
    expect(ran()).toEqual(['hook check: {binary} check', 'hook check: {binary} uncheck']);
    expect(host.snapshot()).toEqual(before);
  });

  it('is undone first when the control plane takes the attempt back', async () => {
    const before = host.snapshot();
    await (await agent()).handle(upgrade([check]));
    await (await agent()).handle(upgrade([check], Operation.CONFIRM));
    await (await agent()).handle(upgrade([check], Operation.COMPENSATE));
    expect(results.at(-1)?.outcome).toBe(Outcome.ROLLED_BACK);
    expect(ran().at(-1)).toBe('hook check: {binary} uncheck');
    expect(host.snapshot()).toEqual(before);
  });

  it('does not run on a node that was found stopped (A3)', async () => {
    host.wanted = false;
    host.crash();
    await (await agent()).handle(upgrade([check]));
    await (await agent()).handle(upgrade([check], Operation.CONFIRM));
    expect(results.at(-1)).toMatchObject({ operation: Operation.CONFIRM, outcome: Outcome.COMPLETED });
    expect(ran()).toEqual([]);
  });

  it.each(['before:after_health:check', 'before-undo', 'before-undo:start_node'])(
    'is undone when the agent dies in the middle of it (A4): %s',
    async (point) => {
      const before = host.snapshot();
      await (await agent()).handle(upgrade([check]));
      await new Promise<void>((reached, failed) => {
        const faultPoint = async (name: string) => {
          if (name !== point) return;
          reached();
          await new Promise(() => undefined);
        };
        agent(fails, faultPoint)
          .then((handler) => handler.handle(upgrade([check], Operation.CONFIRM)))
          .catch(failed);
      });
      const next = await agent();
      await next.resume();
      await next.idle();
      expect(results.at(-1)).toMatchObject({ operation: Operation.CONFIRM, outcome: Outcome.ROLLED_BACK });
      expect(host.snapshot()).toEqual(before);
    },
  );
});

describe('a step at on_error (ADR 0046)', () => {
  const collect = { name: 'collect', point: HookPoint.ON_ERROR, command: ['{binary}', 'collect'] };
  const failing = { name: 'compact', undo: ['{binary}', 'undo'] };
  const error = 'on_error:collect';

  it('runs once after a failure and before the undo, and says what became of it', async () => {
    const before = host.snapshot();
    await (await agent((call) => call === 'hook compact: {binary} db compact')).handle(upgrade([collect, failing]));
    expect(results.at(-1)).toMatchObject({ outcome: Outcome.ROLLED_BACK, failedAction: 'after_install:compact' });
    const calls = [
      'hook compact: {binary} db compact',
      'hook collect: {binary} collect',
      'hook compact: {binary} undo',
    ];
    expect(ran()).toEqual(calls);
    expect(steps()).toContainEqual([error, 'executed']);
    expect(host.snapshot()).toEqual(before);
  });

  it('does not run where nothing failed', async () => {
    await (await agent()).handle(upgrade([collect]));
    expect(results.at(-1)?.outcome).toBe(Outcome.COMPLETED);
    expect(ran()).toEqual([]);
  });

  it('runs when the control plane orders the undo, of a node that did not get healthy for one', async () => {
    await (await agent()).handle(upgrade([collect]));
    await (await agent()).handle(upgrade([collect], Operation.COMPENSATE));
    expect(results.at(-1)?.outcome).toBe(Outcome.ROLLED_BACK);
    expect(ran()).toEqual(['hook collect: {binary} collect']);
  });

  it('never keeps the undo from going on, however it fails', async () => {
    const before = host.snapshot();
    await (await agent((call) => /^hook (compact: .* compact|collect)/.test(call))).handle(upgrade([collect, failing]));
    expect(results.at(-1)).toMatchObject({ outcome: Outcome.ROLLED_BACK, failedAction: 'after_install:compact' });
    expect(results.at(-1)?.errorMessage).toContain("the vendor's step compact");
    const told = results.at(-1)?.steps.find(({ actionName }) => actionName === error);
    expect(told).toMatchObject({ result: 'failed', errorMessage: expect.stringContaining('collect was made to fail') });
    expect(host.snapshot()).toEqual(before);
  });

  it.each([
    [false, 'failed', 0],
    [true, 'executed', 1],
  ] as const)(
    'is ended when an agent died in it, and the undo goes on, repeatable: %s (field-case 20)',
    async (repeatable, state, runs) => {
      const before = host.snapshot();
      const hooks = [{ ...collect, repeatable }, failing];
      const fails = (call: string) => call === 'hook compact: {binary} db compact';
      await new Promise<void>((reached, failed) => {
        const faultPoint = async (name: string) => {
          if (name !== `before:${error}`) return;
          reached();
          await new Promise(() => undefined);
        };
        agent(fails, faultPoint)
          .then((handler) => handler.handle(upgrade(hooks)))
          .catch(failed);
      });
      host.journal.length = 0;
      const next = await agent();
      await next.resume();
      await next.idle();
      expect(host.journal.filter((line) => line.includes('collect'))[0]).toBe('end of hook collect');
      expect(ran().filter((line) => line.startsWith('hook collect'))).toHaveLength(runs);
      expect(results.at(-1)?.outcome).toBe(Outcome.ROLLED_BACK);
      expect(steps()).toContainEqual([error, state]);
      expect(host.snapshot()).toEqual(before);
    },
  );
});

describe('an agent that dies while a step runs (field-case 20)', () => {
  /** Stands still for ever at a fault point, as the dead do. */
  async function dieAt(point: string, hook: Wanted): Promise<void> {
    await new Promise<void>((reached, failed) => {
      const faultPoint = async (name: string) => {
        if (name !== point) return;
        reached();
        await new Promise(() => undefined);
      };
      agent(undefined, faultPoint)
        .then((handler) => handler.handle(upgrade([hook])))
        .catch(failed);
    });
  }

  it.each([
    [false, Outcome.ROLLED_BACK, 'hook_interrupted', 0],
    [true, Outcome.COMPLETED, '', 1],
  ] as const)('ends what is left of it at once, repeatable: %s', async (repeatable, outcome, errorCode, runs) => {
    const hook = { name: 'compact', repeatable };
    await dieAt('before:after_install:compact', hook);
    host.journal.length = 0;
    const next = await agent();
    await next.resume();
    await next.idle();
    expect(results.at(-1)).toMatchObject({ outcome, errorCode });
    expect(host.journal.filter((line) => line.includes('hook'))[0]).toBe('end of hook compact');
    expect(ran()).toHaveLength(runs);
  });
});

it.each([
  ['has no name that is safe', { name: '../x' }],
  ['is a line for a shell', { name: 'compact', command: ['geth db compact'] }],
  ['has an undo after which nothing goes back', { name: 'x', point: HookPoint.ON_ERROR, undo: ['{binary}', 'undo'] }],
])('is refused when it %s, and nothing is touched', async (_, hook) => {
  await (await agent()).handle(upgrade([hook]));
  expect(results.at(-1)).toMatchObject({ outcome: Outcome.REFUSED, errorCode: 'invalid_payload' });
  expect(host.journal).toEqual([]);
});
