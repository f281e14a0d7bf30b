import { describe, expect, it } from 'vitest';
import { StartJudge } from './start-watch.ts';

const RUNNING = {
  Status: 'running',
  Running: true,
  Paused: false,
  Restarting: false,
  OOMKilled: false,
  Dead: false,
  Pid: 4711,
  ExitCode: 0,
  Error: '',
  StartedAt: '2026-01-01T00:00:00Z',
  FinishedAt: '0001-01-01T00:00:00Z',
};

describe('the start of a container', () => {
  it('fails with the code of the one that ended while the engine is about to restart it', () => {
    const look = { State: { ...RUNNING, Restarting: true, ExitCode: 2 }, RestartCount: 0 };
    const cause = 'it exited with code 2, and the engine restarted it';
    expect(new StartJudge(1000).judge(look, 0)).toEqual({ kind: 'failed', cause });
  });

  it('fails without a code once it runs again: the engine shows 0 then, which nothing ended with', () => {
    const verdict = new StartJudge(1000).judge({ State: RUNNING, RestartCount: 1 }, 0);
    expect(verdict).toEqual({ kind: 'failed', cause: 'it ended, and the engine restarted it' });
  });

  it('is stable once it has run since the same moment for long enough', () => {
    const judge = new StartJudge(1000);
    expect(judge.judge({ State: RUNNING, RestartCount: 0 }, 0)).toEqual({ kind: 'wait' });
    expect(judge.judge({ State: RUNNING, RestartCount: 0 }, 1000)).toEqual({ kind: 'stable' });
  });
});
