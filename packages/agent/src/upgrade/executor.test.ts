import { UPGRADE_ACTION_NAMES } from '@hoodcloud/domain/upgrade-phase';
import { describe, expect, it } from 'vitest';
import { AgentError } from '../agent-error.ts';
import { checksumOf } from '../host/file-hash.ts';
import { type FakeBehaviour, FakeHost } from '../runtime/fake/fake-host.ts';
import { FakeRuntime } from '../runtime/fake/fake-runtime.ts';
import type { ActionBudgets } from './action.ts';
import { UPGRADE_ACTIONS } from './action-list.ts';
import { type AttemptProgress, newProgress } from './attempt-progress.ts';
import { type Execution, execute } from './executor.ts';
import { DEFAULT_BUDGETS } from './upgrade-request.ts';

const URL = 'https://releases/new';
const NEW_CONFIG = 'peers = 100';
const OLD = checksumOf('old binary');

interface Scene {
  readonly wantedRunning?: boolean;
  readonly newBehaviour?: FakeBehaviour;
  readonly budgets?: Partial<ActionBudgets>;
}

/** A host on which the old binary runs, an attempt to upgrade it, and the record of that attempt on a disk. */
function scene({ wantedRunning = true, newBehaviour = 'runs', budgets = {} }: Scene = {}) {
  const host = new FakeHost(OLD);
  host.behaviours.set(OLD, 'runs');
  host.configs.set('/etc/node/config.toml', 'peers = 10');
  if (wantedRunning) {
    host.wanted = true;
    host.spawn();
  }
  host.journal.length = 0;
  const checksum = host.publish(URL, 'new binary', newBehaviour);
  const attempt = attemptOn(host, { ...DEFAULT_BUDGETS, ...budgets });
  const disk: { record: AttemptProgress; saves: number } = { record: newProgress(), saves: 0 };
  let fault: { point: string; reached: () => void } | null = null;
  let failing: string | null = null;

  /** A new agent process on the same host: all that it knows is the record on the disk. */
  const run = (overrides: Partial<Execution> = {}) => {
    const progress = structuredClone(disk.record);
    return execute({
      actions: UPGRADE_ACTIONS,
      params: {
        ...attempt,
        runtime: new FakeRuntime(host, (call) => {
          if (call === failing) throw new AgentError('made_to_fail', `${call} was made to fail`);
        }),
      },
      progress,
      save: async () => {
        disk.record = structuredClone(progress);
        disk.saves++;
      },
      onSaveFailed: (error) => {
        throw error;
      },
      beforeUndo: async () => undefined,
      onProgress: () => undefined,
      faultPoint: async (point) => {
        if (point !== fault?.point) return;
        fault.reached();
        await new Promise(() => undefined); // the agent is dead from here on
      },
      now: () => 0,
      ...overrides,
    });
  };
  return {
    host,
    attempt,
    disk,
    checksum,
    run,
    failAt: (call: string | null) => {
      failing = call;
    },
    /** Runs until the agent is killed at a fault point; false when the point was never reached. */
    killAt: async (point: string) => {
      const killed = new Promise<boolean>((resolve) => {
        fault = { point, reached: () => resolve(true) };
      });
      const result = await Promise.race([killed, run().then(() => false)]);
      fault = null;
      return result;
    },
  };
}

/** An attempt to upgrade binary and two configs, one of them new, of the host as it is now. */
function attemptOn(host: FakeHost, budgets: ActionBudgets): Omit<Execution['params'], 'runtime'> {
  return {
    artifact: { name: 'node', url: URL, checksum: checksumOf('new binary'), member: null },
    configFiles: ['/etc/node/config.toml', '/etc/node/new.toml'].map((path) => ({
      path,
      content: Buffer.from(NEW_CONFIG),
      checksum: checksumOf(NEW_CONFIG),
      lastWrittenChecksum: null,
    })),
    driftPolicy: 'fail',
    driftReporting: { showDiff: false, lastWritten: async () => null, tell: () => undefined },
    backupDir: '/data/.upgrade-backup/attempt-1',
    earlierBackupDirs: [],
    budgets,
    before: {
      wantedRunning: host.wanted,
      mainPid: host.process?.pid ?? null,
      mainPidStartedAt: host.process?.startedAt ?? null,
      installedChecksum: host.installed,
      runningChecksum: host.process?.checksum ?? null,
    },
  };
}

const stateOf = (progress: AttemptProgress, name: string) => progress.steps.find((step) => step.name === name)?.state;

it('installs, writes and starts the new version, and records every step', async () => {
  const { host, disk, checksum, run } = scene();
  expect(await run()).toBe('completed');
  expect(host.process).toMatchObject({ checksum, configs: host.configText() });
  expect(host.configText()).toBe(`/etc/node/config.toml=${NEW_CONFIG}, /etc/node/new.toml=${NEW_CONFIG}`);
  expect(disk.record.steps.map(({ name, state }) => [name, state])).toEqual(
    UPGRADE_ACTION_NAMES.map((name) => [name, 'executed']),
  );
  expect(host.held).toBe(false);
});

it('writes the result of one step and the intent of the next at once (A4)', async () => {
  const { attempt, disk, run } = scene();
  await run();
  const alone = UPGRADE_ACTIONS.filter(({ leavesNothingInDoubt }) => leavesNothingInDoubt?.(attempt) !== true);
  expect(disk.saves).toBe(alone.length + 1);
});

it('has written the intents of all that an undo would take back, and no other: that would be downtime (A4)', async () => {
  const { disk, killAt } = scene();
  expect(await killAt('before:reload_daemon')).toBe(true);
  expect(disk.record.steps.at(-1)).toMatchObject({ name: 'write_configs', state: 'intended' });
});

/** A call of every action that can be made to fail, and where. */
const FAILURES = [
  ['backup_state', 'backupState'],
  ['acquire_artifact', 'acquireArtifact'],
  ['verify_artifact', 'verifyArtifact'],
  ['stop_node', 'stop'],
  ['install_artifact', 'installArtifact'],
  ['install_artifact', 'installArtifact, after the rename'],
  ['write_configs', 'writeConfig /etc/node/config.toml'],
  ['write_configs', 'writeConfig /etc/node/new.toml'],
] as const;

describe.each(FAILURES)('a failure of %s in %s', (action, call) => {
  it('leaves the host as it was, with the old version running', async () => {
    const { host, disk, run, failAt } = scene();
    const before = host.snapshot();
    failAt(call);
    // stop fails as an order; the undo's own wait and start use other calls
    expect(await run()).toBe('rolled_back');
    expect(host.snapshot()).toBe(before);
    expect(host.process).toMatchObject({ checksum: OLD, configs: '/etc/node/config.toml=peers = 10' });
    expect(host.held).toBe(false);
    expect(host.acquired).toBeNull();
    expect(disk.record.failure).toMatchObject({ action, code: 'made_to_fail' });
  });
});

it('leaves the host as it was when the new version crashes at its start', async () => {
  const { host, disk, run } = scene({ newBehaviour: 'crashes' });
  const before = host.snapshot();
  expect(await run()).toBe('rolled_back');
  expect(host.snapshot()).toBe(before);
  expect(host.process?.checksum).toBe(OLD);
  expect(disk.record.failure).toMatchObject({ action: 'start_node', code: 'start_failed' });
});

it('undoes completed steps in reverse order, and starts the service last (A1)', async () => {
  const { host, run } = scene({ newBehaviour: 'crashes' });
  await run();
  const undo = host.journal.slice(host.journal.lastIndexOf('stop'));
  expect(undo).toEqual([
    'stop',
    'restore /etc/node/config.toml',
    'restore /etc/node/new.toml',
    `restore ${OLD}`,
    'reload',
    `start ${OLD}`,
  ]);
});

it('undoes the action that failed, since it may have done half of its work (A2)', async () => {
  const { disk, run, failAt } = scene();
  failAt('writeConfig /etc/node/new.toml');
  await run();
  expect(stateOf(disk.record, 'write_configs')).toBe('compensated');
});

it('does not undo what it found done already (A3)', async () => {
  const { host, disk, run, failAt, checksum } = scene();
  host.acquired = checksum; // somebody had brought it already
  failAt('installArtifact');
  expect(await run()).toBe('rolled_back');
  expect(stateOf(disk.record, 'acquire_artifact')).toBe('already_done');
  expect(host.acquired).toBe(checksum);
});

it('undoes what an interrupted try of its own had done, though the host showed it as done (A3)', async () => {
  const { host, disk, run, killAt } = scene({ newBehaviour: 'crashes' });
  const before = host.snapshot();
  await killAt('after:install_artifact');
  expect(await run()).toBe('rolled_back');
  expect(stateOf(disk.record, 'install_artifact')).toBe('compensated');
  expect(host.snapshot()).toBe(before);
});

it('takes a start for done only when the wanted artifact runs (A6)', async () => {
  const { host, run, checksum } = scene();
  host.installed = checksum; // installed by somebody, but the old one still runs
  expect(await run()).toBe('completed');
  expect(host.process?.checksum).toBe(checksum);
  expect(host.journal).toContain('stop');
});

it('says failed_rollback and starts nothing when an undo fails', async () => {
  const { host, attempt, disk, run } = scene({ newBehaviour: 'crashes' });
  const runtime = new FakeRuntime(host, (call) => {
    if (call.startsWith('restoreConfig')) throw new AgentError('backup_corrupt', 'the copy is gone');
  });
  const outcome = await run({ params: { ...attempt, runtime } });
  expect(outcome).toBe('failed_rollback');
  expect(host.process).toBeNull();
  expect(host.held).toBe(true);
  expect(stateOf(disk.record, 'write_configs')).toBe('compensate_failed');
});

it('starts no node that its operator had stopped, neither forward nor back (A3)', async () => {
  const forward = scene({ wantedRunning: false });
  expect(await forward.run()).toBe('completed');
  expect(forward.host).toMatchObject({ process: null, wanted: false, held: false, installed: forward.checksum });

  const back = scene({ wantedRunning: false });
  back.failAt('writeConfig /etc/node/new.toml');
  expect(await back.run()).toBe('rolled_back');
  expect(back.host).toMatchObject({ process: null, wanted: false, held: false, installed: OLD });
});

it('waits for an old process that stops longer than its budget, then starts the old version (A7)', async () => {
  const { host, disk, run } = scene({ budgets: { stopMs: 20 } });
  host.behaviours.set(OLD, 'slow_to_stop');
  expect(await run()).toBe('rolled_back');
  expect(disk.record.failure).toMatchObject({ action: 'stop_node', code: 'stop_overrun' });
  expect(host.process?.checksum).toBe(OLD);
  expect(host.journal.filter((entry) => entry === 'stop')).toHaveLength(1);
});

it('stops going forward when its record cannot be written, and undoes all the same', async () => {
  const { host, run } = scene();
  const before = host.snapshot();
  const failures: unknown[] = [];
  let saves = 0;
  const outcome = await run({
    save: async () => {
      if (++saves > 5) throw new AgentError('disk_full', 'no space left');
    },
    onSaveFailed: (error) => failures.push(error),
  });
  expect(outcome).toBe('rolled_back');
  expect(host.snapshot()).toBe(before);
  expect(host.process?.checksum).toBe(OLD);
  expect(failures.length).toBeGreaterThan(0);
});

const CRASH_POINTS = UPGRADE_ACTION_NAMES.flatMap((name) => [`before:${name}`, `after:${name}`]);

describe.each(CRASH_POINTS)('an agent killed at %s', (point) => {
  it('goes on when it is back: the new version runs, stopped once', async () => {
    const { host, checksum, run, killAt } = scene();
    expect(await killAt(point)).toBe(true);
    expect(await run()).toBe('completed');
    expect(host.process).toMatchObject({ checksum, configs: host.configText() });
    expect(host.journal.filter((entry) => entry === 'stop')).toHaveLength(1);
    expect(host.held).toBe(false);
  });

  it('can undo everything when it is back', async () => {
    const { host, disk, run, killAt } = scene();
    const before = host.snapshot();
    await killAt(point);
    disk.record.direction = 'undo';
    expect(await run()).toBe('rolled_back');
    expect(host.snapshot()).toBe(before);
    expect(host.process).toMatchObject({ checksum: OLD, configs: '/etc/node/config.toml=peers = 10' });
    expect(host.held).toBe(false);
  });
});

const UNDO_POINTS = [
  'before-undo',
  ...UPGRADE_ACTION_NAMES.flatMap((name) => [`before-undo:${name}`, `after-undo:${name}`]),
];

describe.each(UNDO_POINTS)('an agent killed at %s', (point) => {
  it('finishes the undo when it is back', async () => {
    const { host, run, killAt } = scene({ newBehaviour: 'crashes' });
    const before = host.snapshot();
    expect(await killAt(point)).toBe(true);
    expect(await run()).toBe('rolled_back');
    expect(host.snapshot()).toBe(before);
    expect(host.process).toMatchObject({ checksum: OLD, configs: '/etc/node/config.toml=peers = 10' });
  });
});

it('stops a node again that somebody started while the agent was dead in the middle of a change', async () => {
  const { host, checksum, run, killAt } = scene();
  await killAt('before:install_artifact');
  host.held = false; // somebody removed the hold and started it
  host.wanted = true;
  host.spawn();
  expect(await run()).toBe('completed');
  expect(host.process?.checksum).toBe(checksum);
});
