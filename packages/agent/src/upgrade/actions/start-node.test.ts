import { describe, expect, it } from 'vitest';
import { checksumOf } from '../../host/file-hash.ts';
import { FakeHost } from '../../runtime/fake/fake-host.ts';
import { FakeRuntime } from '../../runtime/fake/fake-runtime.ts';
import type { StartOptions } from '../../runtime/runtime-adapter.ts';
import type { ActionParams } from '../action.ts';
import { DEFAULT_BUDGETS } from '../upgrade-request.ts';
import { startNode } from './start-node.ts';

const OLD = checksumOf('old binary');
const NEW = checksumOf('new binary');

/** The old binary runs while the new one is installed: `Restart=always` has brought it back in between. */
function oldRuns(changes: Partial<ActionParams> = {}): { host: FakeHost; params: ActionParams } {
  const host = new FakeHost(OLD);
  host.wanted = true;
  host.spawn();
  host.installed = NEW;
  const params: ActionParams = {
    runtime: new FakeRuntime(host),
    artifact: { name: 'node', url: '', checksum: NEW, member: null },
    configFiles: [],
    driftPolicy: 'fail',
    driftReporting: { showDiff: false, lastWritten: async () => null, tell: () => undefined },
    backupDir: '/data/.upgrade-backup/attempt-1',
    earlierBackupDirs: [],
    budgets: DEFAULT_BUDGETS,
    before: {
      wantedRunning: true,
      mainPid: null,
      mainPidStartedAt: null,
      installedChecksum: OLD,
      runningChecksum: OLD,
    },
    installedChecksum: NEW,
    inDoubt: false,
    learn: () => undefined,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...changes,
  };
  return { host, params };
}

it('is done only when the wanted artifact runs, not when any does (A6, field-case 52)', async () => {
  const { host, params } = oldRuns();
  expect(await startNode.isAlreadyDone(params)).toBe(false);
  host.process = null;
  host.spawn();
  expect(await startNode.isAlreadyDone(params)).toBe(true);
});

it('fails when what runs after the start is another artifact', async () => {
  const { params } = oldRuns();
  await expect(startNode.execute(params)).rejects.toMatchObject({ code: 'wrong_artifact_running' });
});

it('watches again what an interrupted try had started, since nobody saw it stay up', async () => {
  const { host, params } = oldRuns({ inDoubt: true });
  host.process = null;
  host.spawn();
  expect(await startNode.isAlreadyDone(params)).toBe(false);
});

it('hands the budgets of a start on, tolerated restarts among them', async () => {
  const { params } = oldRuns({ budgets: { ...DEFAULT_BUDGETS, stableMs: 7, toleratedRestarts: 3 } });
  const given: StartOptions[] = [];
  const start = params.runtime.start.bind(params.runtime);
  params.runtime.start = (options) => {
    given.push(options);
    return start(options);
  };
  await params.runtime.stop(params.signal);
  await startNode.execute(params);
  expect(given).toMatchObject([{ stableMs: 7, toleratedRestarts: 3 }]);
});

describe('a node that ends right after it had been up for long enough', () => {
  function endsAfterItsStart(times: number, toleratedRestarts: number) {
    const { host, params } = oldRuns({ budgets: { ...DEFAULT_BUDGETS, toleratedRestarts } });
    const start = params.runtime.start.bind(params.runtime);
    let starts = 0;
    params.runtime.start = async (options) => {
      await start(options);
      starts += 1;
      if (starts <= times) host.process = null;
    };
    return { params, starts: () => starts };
  }

  it('is watched anew where its chain tolerates restarts (double_sign_check_height)', async () => {
    const { params, starts } = endsAfterItsStart(2, 5);
    await params.runtime.stop(params.signal);
    await startNode.execute(params);
    expect(starts()).toBe(3);
  });

  it('has failed where none is tolerated, and is not taken for another artifact', async () => {
    const { params } = endsAfterItsStart(1, 0);
    await params.runtime.stop(params.signal);
    await expect(startNode.execute(params)).rejects.toMatchObject({ code: 'start_failed' });
  });
});
