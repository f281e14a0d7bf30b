import { describe, expect, test } from 'vitest';
import { decideNext } from '../decide-next.ts';
import type { NodeDuty } from '../node-duty.ts';
import type { FleetNodeFacts, RolloutNodeFacts } from '../rollout-snapshot.ts';
import { told } from '../testing/decision-line.ts';
import { aNode, aRow, aSnapshot, ended, type SnapshotParts } from '../testing/snapshot-builder.ts';

const now = 10_000;
const duty = (over: Partial<NodeDuty> = {}): NodeDuty => ({
  name: 'proposer',
  free: false,
  waitSeconds: null,
  missing: [],
  ...over,
});

function decided(node: Partial<FleetNodeFacts>, row: RolloutNodeFacts = aRow('a'), over: SnapshotParts = {}) {
  return decideNext(aSnapshot({ nodes: [row], fleet: [aNode('a', node)], ...over }), now);
}

describe('a node that has a duty', () => {
  test('is not stopped, and says how long until its next free window', () => {
    const decision = decided({ duties: [duty({ waitSeconds: 42 })] });
    expect(told(decision)).toBe('wait on_duty (running)');
    const next = 'its next free window comes in about 42 s';
    expect(decision).toMatchObject({ until: now + 42_000, reasons: [{ params: { duty: 'proposer', next } }] });
  });

  test('is asked again in ten seconds when nobody knows when it is free, and each minute at the least', () => {
    expect(decided({ duties: [duty()] })).toMatchObject({ until: now + 10_000 });
    expect(decided({ duties: [duty({ waitSeconds: 3_600 })] })).toMatchObject({ until: now + 60_000 });
    expect(decided({ duties: [duty({ waitSeconds: -5 })] })).toMatchObject({ until: now + 1_000 });
  });

  test('starts when it is free of all its duties, and tells each that it is not', () => {
    const free = duty({ free: true });
    expect(told(decided({ duties: [free] }))).toBe('run a#1 (running)');
    const other = duty({ name: 'attestations' });
    expect(decided({ duties: [free, other, duty({ name: 'sync-committee' })] })).toMatchObject({
      reasons: [{ params: { duty: 'attestations' } }, { params: { duty: 'sync-committee' } }],
    });
  });

  test('what is not known is not free, and the metric that is missing is named', () => {
    const decision = decided({ duties: [duty({ free: null, missing: ['slots_to_next'] })] });
    expect(told(decision)).toBe('wait duty_unknown (running)');
    expect(decision).toMatchObject({ reasons: [{ params: { what: 'its metric slots_to_next is' } }] });
  });

  test('waits as a retry too; one person may set that duty aside for the rollout', () => {
    const retry = ended('a', 'failed', { requestedAttempt: 2 });
    const rollout = { failureThreshold: 1 };
    expect(told(decided({ duties: [duty()] }, retry, { rollout }))).toBe('wait on_duty (running)');
    const overrides = [{ rule: 'duty/proposer', actor: 'bob', reason: 'now', createdAt: 0, expiresAt: now + 1 }];
    expect(told(decided({ duties: [duty()] }, retry, { rollout, overrides }))).toBe('run a#2 (running)');
  });

  test('goes back whatever its duties: the release may keep it from them', () => {
    const row = ended('a', 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback' });
    const rollout = { direction: 'rollback' } as const;
    expect(told(decided({ duties: [duty({ free: null })] }, row, { rollout }))).toBe('run a#2 (running)');
  });

  test('that is down has none to miss', () => {
    expect(told(decided({ state: 'down', duties: [duty({ free: null })] }))).toBe('run a#1 (running)');
  });
});
