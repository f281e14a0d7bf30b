import { describe, expect, test } from 'vitest';
import { decideNext } from './decide-next.ts';
import type { FailureClass } from './failure-class.ts';
import type { RolloutNodeFacts } from './rollout-snapshot.ts';
import { told } from './testing/decision-line.ts';
import { aControl, aRow, aSnapshot, ended, inFlight, type SnapshotParts } from './testing/snapshot-builder.ts';

const now = 10_000;

describe('failure threshold, of what was attempted, as share and as number (C5, field-case 108)', () => {
  const rollout = { batchSize: 4, failureThreshold: 0.25 } as const;
  const later = aRow('z', { batchIndex: 1 });

  test('a failure that breaches it keeps new nodes from starting while the others end', () => {
    const nodes = [ended('a', 'failed'), inFlight('b'), aRow('c'), later];
    const decision = decideNext(aSnapshot({ rollout, nodes }), now);
    expect(told(decision)).toBe('wait pausing failure_threshold_exceeded nodes_in_flight (running)');
  });

  test('then the rollout is paused with the numbers', () => {
    const nodes = [ended('a', 'failed'), ended('b', 'succeeded'), later];
    expect(decideNext(aSnapshot({ rollout, nodes }), now)).toMatchObject({
      kind: 'pause',
      reason: { code: 'failure_threshold_exceeded', params: { failed: 1, attempted: 2, threshold: 0.25 } },
    });
  });

  test('a share equal to the threshold is within it', () => {
    const nodes = [
      ended('a', 'failed'),
      ended('b', 'succeeded'),
      ended('c', 'succeeded'),
      ended('d', 'succeeded'),
      later,
    ];
    expect(told(decideNext(aSnapshot({ rollout, nodes }), now))).toBe('run z#1 (running)');
  });

  test('a node that the agent undid counts as failed', () => {
    const nodes = [ended('a', 'rolled_back'), later];
    expect(told(decideNext(aSnapshot({ rollout, nodes }), now))).toBe('pause failure_threshold_exceeded');
  });

  test('the ratio bites only from min_attempted on', () => {
    const nodes = [ended('a', 'failed'), later];
    expect(told(decideNext(aSnapshot({ rollout: { ...rollout, minAttempted: 2 }, nodes }), now))).toBe(
      'run z#1 (running)',
    );
  });

  test('the absolute limit bites whatever the ratio', () => {
    const nodes = [ended('a', 'failed'), ended('b', 'failed'), later];
    const limited = { batchSize: 4, failureThreshold: 1, maxFailures: 1 };
    expect(told(decideNext(aSnapshot({ rollout: limited, nodes }), now))).toBe('pause max_failures_exceeded');
  });

  test('a single-node rollout obeys it too, and is not called completed', () => {
    expect(told(decideNext(aSnapshot({ rollout, nodes: [ended('a', 'failed')] }), now))).toBe(
      'pause failure_threshold_exceeded',
    );
  });

  const paused = {
    ...rollout,
    status: 'paused',
    statusReason: 'failure_threshold_exceeded',
    statusChangedAt: 1_500,
  } as const;

  test('resume acknowledges the failures so far', () => {
    const controls = [aControl('resume', 2_000, { failuresAcknowledged: 1 })];
    expect(told(decideNext(aSnapshot({ rollout: paused, nodes: [ended('a', 'failed'), later], controls }), now))).toBe(
      'run z#1 (running)',
    );
  });

  test('after a resume only new failures count', () => {
    const controls = [aControl('resume', 2_000, { failuresAcknowledged: 1 })];
    const nodes = [
      ended('a', 'failed'),
      ended('z', 'failed', { batchIndex: 1, endedAt: 3_000 }),
      aRow('zz', { batchIndex: 2 }),
    ];
    expect(decideNext(aSnapshot({ rollout, nodes, controls }), now)).toMatchObject({
      kind: 'pause',
      reason: { code: 'failure_threshold_exceeded', params: { failed: 1, attempted: 2 } },
    });
  });

  test('a retried node that leaves the acknowledged count hides no new failure', () => {
    const controls = [aControl('resume', 2_000, { failuresAcknowledged: 1 })];
    const nodes = [
      ended('a', 'succeeded', { attemptCount: 2, requestedAttempt: 2, endedAt: 2_500 }),
      ended('z', 'failed', { batchIndex: 1, endedAt: 3_000 }),
      aRow('zz', { batchIndex: 2 }),
    ];
    expect(told(decideNext(aSnapshot({ rollout, nodes, controls }), now))).toBe('pause failure_threshold_exceeded');
  });

  test('when the acknowledged failures were the last nodes it runs again and is completed', () => {
    const controls = [aControl('resume', 2_000, { failuresAcknowledged: 1 })];
    const nodes = [ended('a', 'failed')];
    const decision = decideNext(aSnapshot({ rollout: paused, nodes, controls }), now);
    expect(told(decision)).toBe('wait resumed_by_operator (running)');
    expect(decision).toMatchObject({ until: now });
    expect(told(decideNext(aSnapshot({ rollout, nodes, controls }), now))).toBe('finish completed all_nodes_ended');
  });

  test('force overrides it, and lifts a pause that it caused', () => {
    const controls = [aControl('force', 2_000)];
    expect(told(decideNext(aSnapshot({ rollout: paused, nodes: [ended('a', 'failed'), later], controls }), now))).toBe(
      'run z#1 (running)',
    );
  });

  test('force lifts no pause that a person ordered', () => {
    const byAnn = { ...paused, statusReason: 'paused_by_operator' };
    const controls = [aControl('pause', 1_200), aControl('force', 2_000)];
    expect(told(decideNext(aSnapshot({ rollout: byAnn, nodes: [ended('a', 'failed'), later], controls }), now))).toBe(
      'pause paused_by_operator',
    );
  });

  test('force_continue completes all nodes whatever fails', () => {
    const nodes = [ended('a', 'failed'), ended('b', 'failed')];
    const forced = { strategy: 'all_at_once', forceContinue: true } as const;
    expect(told(decideNext(aSnapshot({ rollout: forced, nodes }), now))).toBe('finish completed all_nodes_ended');
  });
});

describe('failures told apart by class', () => {
  const failureClasses = { artifact: 0, infrastructure: 1, state: 0 };
  const rollout = { batchSize: 9, failureThreshold: 0.5, minAttempted: 4, failureClasses } as const;
  const failed = (id: string, failureClass: FailureClass, over = {}) => ended(id, 'failed', { failureClass, ...over });
  const well = ['w1', 'w2', 'w3'].map((id) => ended(id, 'succeeded'));
  const later = aRow('z', { batchIndex: 1 });
  const decided = (nodes: RolloutNodeFacts[], over: Partial<SnapshotParts> = {}) =>
    told(decideNext(aSnapshot({ rollout, nodes: [...nodes, later], ...over }), now));

  test('one broken artifact stops the rollout, however few were attempted and whatever the share', () => {
    const decision = decideNext(aSnapshot({ rollout, nodes: [...well, failed('a', 'artifact'), later] }), now);
    expect(told(decision)).toBe('pause failure_class_limit');
    expect(decision).toMatchObject({ reason: { params: { class: 'artifact', failed: 1, limit: 0 }, nodeIds: ['a'] } });
  });

  test('an undo that failed stops it at once too', () => {
    expect(decided([...well, failed('a', 'state')])).toBe('pause failure_class_limit');
  });

  test('infrastructure is no evidence about the release, until there is more of it than is borne', () => {
    expect(decided([failed('a', 'infrastructure')])).toBe('run z#1 (running)');
    // 2 of 4 would be more than the threshold of 0.49; without the one of the infrastructure it is 1 of 3
    const tight = { ...rollout, failureThreshold: 0.49, minAttempted: 1 };
    const nodes = [failed('a', 'infrastructure'), failed('b', 'node'), ...well.slice(1), later];
    expect(told(decideNext(aSnapshot({ rollout: tight, nodes }), now))).toBe('run z#1 (running)');
    expect(decided([...well, failed('a', 'infrastructure'), failed('b', 'infrastructure')])).toBe(
      'pause failure_class_limit',
    );
  });

  test("a node's own failure is judged by the threshold, from the minimum sample on (C5)", () => {
    expect(decided([failed('a', 'node'), failed('b', 'node')])).toBe('run z#1 (running)');
    expect(decided(['a', 'b', 'c'].map((id) => failed(id, 'node')).concat(well.slice(2)))).toBe(
      'pause failure_threshold_exceeded',
    );
  });

  test('a resume acknowledges what failed before it, and force overrides the limits', () => {
    const nodes = [...well, failed('a', 'artifact', { endedAt: 1_000 })];
    expect(decided(nodes, { controls: [aControl('resume', 2_000)] })).toBe('run z#1 (running)');
    const again = [...nodes, failed('b', 'artifact', { endedAt: 3_000 })];
    expect(decided(again, { controls: [aControl('resume', 2_000)] })).toBe('pause failure_class_limit');
    expect(decided(again, { controls: [aControl('force', 2_000)] })).toBe('run z#1 (running)');
  });

  test('without the field no class is looked at: what C5 says stands', () => {
    const plain = { batchSize: 9, failureThreshold: 0.5 };
    const nodes = [...well, failed('a', 'artifact'), failed('b', 'state'), later];
    expect(told(decideNext(aSnapshot({ rollout: plain, nodes }), now))).toBe('run z#1 (running)');
  });
});
