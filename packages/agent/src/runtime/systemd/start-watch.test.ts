import { describe, expect, it } from 'vitest';
import { StartJudge, type StartLook } from './start-watch.ts';
import { parseUnit } from './unit-properties.ts';

const MAIN = { pid: 10, startedAt: 100 };
const look = (values: Record<string, string>, more: Partial<StartLook> = {}): StartLook => ({
  view: parseUnit(
    Object.entries({ ActiveState: 'active', SubState: 'running', ...values })
      .map(([key, value]) => `${key}=${value}`)
      .join('\n'),
  ),
  main: MAIN,
  worker: null,
  ...more,
});

describe('a start (A15, D4c)', () => {
  it('is good when the same process stays up for the whole time', () => {
    const judge = new StartJudge(1000);
    expect(judge.judge(look({}), 0).kind).toBe('wait');
    expect(judge.judge(look({}), 999).kind).toBe('wait');
    expect(judge.judge(look({}), 1000).kind).toBe('stable');
  });

  it('counts from the moment the unit is active', () => {
    const judge = new StartJudge(1000);
    judge.judge(look({ ActiveState: 'activating', SubState: 'start' }), 0);
    judge.judge(look({}), 800);
    expect(judge.judge(look({}), 1000).kind).toBe('wait');
    expect(judge.judge(look({}), 1800).kind).toBe('stable');
  });

  it('failed at the first restart, though the unit is active again', () => {
    const judge = new StartJudge(1000);
    judge.judge(look({}), 0);
    const verdict = judge.judge(look({ NRestarts: '1', ExecMainCode: '1', ExecMainStatus: '2' }), 200);
    expect(verdict).toEqual({ kind: 'failed', cause: 'it exited with code 2, and systemd restarted it' });
  });

  it('failed when the crash and the restart were over before the first look', () => {
    expect(new StartJudge(1000).judge(look({ NRestarts: '1' }), 0).kind).toBe('failed');
  });

  it('failed while the unit waits in auto-restart', () => {
    const waiting = look({
      ActiveState: 'activating',
      SubState: 'auto-restart',
      ExecMainStatus: '203',
      ExecMainCode: '1',
    });
    expect(new StartJudge(0).judge(waiting, 0)).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('203/EXEC'),
    });
  });

  it('failed when a condition keeps the unit down though start returned 0', () => {
    const verdict = new StartJudge(0).judge(look({ ActiveState: 'inactive', ConditionResult: 'no' }), 0);
    expect(verdict).toMatchObject({ kind: 'failed', cause: expect.stringContaining('condition') });
  });

  it('is never stable while a wrapper restarts its child', () => {
    const judge = new StartJudge(500);
    for (let now = 0; now < 10_000; now += 400) {
      expect(judge.judge(look({}, { worker: { pid: 20 + now, startedAt: now } }), now).kind).toBe('wait');
    }
  });
});

describe('restarts that a chain tolerates (D4c)', () => {
  const restarts = (count: number, more: Record<string, string> = {}) =>
    look({ NRestarts: String(count), ExecMainCode: '1', ExecMainStatus: '1', Restart: 'always', ...more });

  it('are waited for, and the stable time begins anew after each', () => {
    const judge = new StartJudge(1000, 2);
    expect(judge.judge(restarts(0), 0).kind).toBe('wait');
    expect(judge.judge(restarts(1, { ActiveState: 'activating', SubState: 'auto-restart' }), 900).kind).toBe('wait');
    expect(judge.judge(restarts(2), 1200).kind).toBe('wait');
    expect(judge.judge(restarts(2), 2199).kind).toBe('wait');
    expect(judge.judge(restarts(2), 2200).kind).toBe('stable');
  });

  it('are counted once, while the next one is awaited and when it is queued', () => {
    const judge = new StartJudge(1000, 1);
    const waits = { ActiveState: 'activating', SubState: 'auto-restart' };
    expect(judge.judge(restarts(0, waits), 0).kind).toBe('wait');
    expect(judge.judge(restarts(1, { ...waits, Job: '77' }), 200).kind).toBe('wait');
    expect(judge.judge(restarts(1, waits), 400).kind).toBe('failed');
  });

  it('are no more than it says', () => {
    const verdict = new StartJudge(1000, 2).judge(restarts(3), 0);
    expect(verdict).toMatchObject({ kind: 'failed', cause: expect.stringContaining('2 are tolerated') });
  });

  it('go on after systemd has given up, counted on from there', () => {
    const judge = new StartJudge(0, 3);
    expect(judge.judge(restarts(1, { ActiveState: 'failed' }), 0).kind).toBe('start_again');
    expect(judge.judge(restarts(1), 100).kind).toBe('stable');
    expect(judge.judge(restarts(1, { ActiveState: 'failed' }), 200)).toMatchObject({ kind: 'failed' });
  });

  it('are none for a unit that systemd does not restart', () => {
    expect(new StartJudge(0, 3).judge(look({ ActiveState: 'failed', Restart: 'no' }), 0).kind).toBe('failed');
  });
});
