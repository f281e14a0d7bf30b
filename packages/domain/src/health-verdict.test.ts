import { describe, expect, test } from 'vitest';
import {
  DEFAULT_HEALTH_POLICY,
  type HealthInput,
  type HealthReading,
  judgeHealth,
  newRestarts,
} from './health-verdict.ts';
import { aChain } from './testing/snapshot-builder.ts';

const NEW = 'b'.repeat(64);
const OLD = 'a'.repeat(64);
const START = 100_000;
const END = START + DEFAULT_HEALTH_POLICY.waitMs;
const DEADLINE = END + DEFAULT_HEALTH_POLICY.graceMs;

const good = (second: number, over: Partial<HealthReading> = {}): HealthReading => ({
  receivedAt: START + second * 1_000,
  sessionId: 's1',
  active: true,
  mainPid: 42,
  mainPidStartedAt: 7,
  restarts: 0,
  runningSha256: NEW,
  applicationHealth: 'ok',
  syncStatus: 'syncing',
  height: 5,
  ready: null,
  ...over,
});

/** A reading every five seconds from second 5 to second 60, changed by `over`. */
const minute = (over: (second: number) => Partial<HealthReading> = () => ({})) =>
  Array.from({ length: 12 }, (_, index) => good(5 * (index + 1), over(5 * (index + 1))));

interface Parts extends Partial<Omit<HealthInput, 'policy'>> {
  policy?: Partial<HealthInput['policy']>;
}
const judge = ({ policy, ...parts }: Parts) =>
  judgeHealth({
    now: END,
    commandEndedAt: START,
    sessionId: 's1',
    expectedSha256: NEW,
    nodeState: 'maintenance',
    readings: minute(),
    chain: aChain(),
    ...parts,
    policy: { ...DEFAULT_HEALTH_POLICY, ...policy },
  });
const told = (parts: Parts) => {
  const verdict = judge(parts);
  return verdict.kind === 'healthy'
    ? 'healthy'
    : `${verdict.kind} ${verdict.reasons.map(({ code }) => code).join(' ')}`;
};

describe('healthy', () => {
  test('when the time is over and the last readings are good', () => {
    expect(told({})).toBe('healthy');
  });

  test('never before health_wait_duration has passed, however good it looks', () => {
    expect(judge({ now: END - 1 })).toMatchObject({ kind: 'wait', until: END, reasons: [{ code: 'health_window' }] });
  });

  test('while it still syncs, and while the application is degraded (relaxed criteria)', () => {
    expect(told({ readings: minute(() => ({ syncStatus: 'syncing', applicationHealth: 'degraded' })) })).toBe(
      'healthy',
    );
  });

  test('after one failed probe in between: that is not node trouble (D4, field-case 122)', () => {
    expect(told({ readings: minute((second) => (second === 30 ? { applicationHealth: 'critical' } : {})) })).toBe(
      'healthy',
    );
  });

  test('when only the configs changed and whatever executable runs', () => {
    expect(told({ expectedSha256: null })).toBe('healthy');
  });

  test('with a digest that carries its prefix', () => {
    expect(told({ expectedSha256: `sha256:${NEW}` })).toBe('healthy');
  });
});

describe('fresh means after (D1)', () => {
  test('readings from before the result was written do not count', () => {
    const readings = minute().map((reading) => ({ ...reading, receivedAt: reading.receivedAt - 60_000 }));
    expect(told({ readings })).toBe('wait no_fresh_heartbeat');
  });

  test('readings of an earlier session do not count', () => {
    expect(told({ sessionId: 's2' })).toBe('wait no_fresh_heartbeat');
    expect(told({ sessionId: null })).toBe('wait no_fresh_heartbeat');
  });

  test('a node that stays silent fails when the grace time is over', () => {
    expect(told({ readings: [], now: DEADLINE - 1 })).toBe('wait no_fresh_heartbeat');
    expect(told({ readings: [], now: DEADLINE })).toBe('failed no_fresh_heartbeat');
  });

  test('the old version still running is not the upgrade', () => {
    expect(told({ readings: minute(() => ({ runningSha256: OLD })) })).toBe('failed wrong_version_running');
  });

  test('good readings that have stopped prove nothing about now', () => {
    const readings = minute().slice(0, 5);
    expect(told({ readings })).toBe('wait heartbeats_stopped');
    expect(told({ readings, now: DEADLINE })).toBe('failed heartbeats_stopped');
  });
});

describe('crashes fail early (D3)', () => {
  test('more than three new restarts are a crash loop', () => {
    const restarting = (per: number) => minute((second) => ({ restarts: Math.floor(second / per) })).slice(0, 5);
    expect(told({ readings: restarting(5), now: START + 25_000 })).toBe('failed crash_loop');
    expect(told({ readings: restarting(10), now: START + 25_000 })).toMatch(/^wait/);
  });

  test('restarts before the first reading count when the count at the start is known', () => {
    const readings = [good(5, { restarts: 4 })];
    expect(told({ readings, restartsAtStart: 0, now: START + 6_000 })).toBe('failed crash_loop');
    expect(told({ readings, now: START + 6_000 })).toMatch(/^wait/);
  });

  test('a chain may allow more', () => {
    const readings = minute((second) => ({ restarts: second / 5 })).slice(0, 6);
    expect(told({ readings, policy: { maxRestarts: 10 }, now: START + 30_000 })).toMatch(/^wait/);
  });

  test('no main process for ten seconds is a crash (field-case 123)', () => {
    const dead = (from: number, to: number) =>
      minute((second) => (second >= from && second <= to ? { active: false, mainPid: 0, runningSha256: null } : {}));
    expect(told({ readings: dead(15, 25).slice(0, 5), now: START + 25_000 })).toBe('failed no_main_process');
    expect(told({ readings: dead(20, 25).slice(0, 5), now: START + 25_000 })).toMatch(/^wait/);
    expect(told({ readings: dead(20, 30) })).toBe('healthy');
  });

  test('a counter that was reset starts anew', () => {
    expect(
      newRestarts([
        good(1, { restarts: 5 }),
        good(2, { restarts: 1 }),
        good(3, { restarts: null }),
        good(4, { restarts: 2 }),
      ]),
    ).toBe(2);
  });
});

describe('life signs over ten seconds (D4c)', () => {
  const short = { waitMs: 4_000, graceMs: 60_000 };

  test('a shorter health_wait_duration does not shorten them', () => {
    const readings = [good(2), good(4)];
    expect(told({ readings, policy: short, now: START + 4_000 })).toBe('wait not_stable_yet');
    expect(told({ readings: [good(2), good(7), good(12)], policy: short, now: START + 12_000 })).toBe('healthy');
  });

  test('a restart begins them anew', () => {
    const readings = minute((second) => (second >= 55 ? { restarts: 1, mainPid: 43, mainPidStartedAt: 8 } : {}));
    expect(told({ readings })).toBe('wait not_stable_yet');
  });

  test('so does a new process that the runtime did not count', () => {
    expect(told({ readings: minute((second) => (second >= 55 ? { mainPidStartedAt: 8 } : {})) })).toBe(
      'wait not_stable_yet',
    );
  });

  test('a chain may ask for less', () => {
    const policy = { ...short, minStableMs: 0 };
    expect(told({ readings: [good(2)], policy, now: START + 4_000 })).toBe('healthy');
  });
});

describe('a criterion must fail in consecutive readings (D4)', () => {
  test.each([
    ['application_critical', { applicationHealth: 'critical' }],
    ['sync_stalled', { syncStatus: 'stalled' }],
    ['wrong_version_running', { runningSha256: OLD }],
  ] as [string, Partial<HealthReading>][])('%s in the last two fails the node', (code, over) => {
    expect(told({ readings: minute((second) => (second >= 55 ? over : {})) })).toBe(`failed ${code}`);
  });

  test('in the last one only it is waited for, and decided in the grace time', () => {
    const readings = minute((second) => (second >= 60 ? { applicationHealth: 'critical' } : {}));
    expect(told({ readings })).toBe('wait application_critical');
    expect(told({ readings: [...readings, good(65), good(70)], now: START + 70_000 })).toBe('healthy');
    expect(told({ readings: [...readings, good(65, { applicationHealth: 'critical' })], now: START + 65_000 })).toBe(
      'failed application_critical',
    );
  });

  test('two different criteria in turn are no criterion that persists', () => {
    const readings = minute((second) =>
      second === 55 ? { applicationHealth: 'critical' } : second === 60 ? { syncStatus: 'stalled' } : {},
    );
    expect(told({ readings })).toBe('wait application_critical sync_stalled');
  });

  test.each(['down', 'failed'] as const)('a node that is %s is not healthy', (nodeState) => {
    expect(told({ nodeState })).toBe('wait node_down');
    expect(told({ nodeState, now: DEADLINE })).toBe('failed node_down');
  });
});

describe('unknown never counts as healthy (D3, field-case 95)', () => {
  const unknown = minute(() => ({ applicationHealth: 'unknown', syncStatus: 'unknown' }));

  test('where the chain says how to know', () => {
    expect(told({ readings: unknown, policy: { judgesApplication: true } })).toBe('failed application_unknown');
    expect(told({ readings: unknown, policy: { judgesSync: true } })).toBe('failed sync_unknown');
  });

  test('a chain without expressions is judged by its processes', () => {
    expect(told({ readings: unknown })).toBe('healthy');
  });

  test('ready_expression must hold at the end; an absent metric is not true (D4b)', () => {
    const policy = { judgesReady: true };
    expect(told({ policy })).toBe('failed not_ready');
    expect(told({ policy, readings: minute(() => ({ ready: false })) })).toBe('failed not_ready');
    expect(told({ policy, readings: minute((second) => ({ ready: second >= 55 })) })).toBe('healthy');
  });
});

describe('a halted chain fails no node (D4a)', () => {
  const chain = aChain({ bestHeight: 5, heightGrewAt: START, maxBlockIntervalMs: 30_000 });

  test('neither as stalled nor as not ready', () => {
    const readings = minute(() => ({ syncStatus: 'stalled', ready: false }));
    expect(told({ chain, readings, policy: { judgesReady: true } })).toBe('healthy');
  });

  test('but a crash loop is a crash loop', () => {
    expect(told({ chain, readings: minute((second) => ({ restarts: second / 5 })) })).toBe('failed crash_loop');
  });
});
