import { describe, expect, test } from 'vitest';
import { decideNext } from './decide-next.ts';
import { told } from './testing/decision-line.ts';
import { aControl, aNode, aRow, aSnapshot, ended, inFlight } from './testing/snapshot-builder.ts';

const now = 10_000;
const ordered = aControl('rollback', 2_000);
const back = { direction: 'rollback', batchSize: 2 } as const;
/** A succeeded row whose way back is wanted. */
const due = (nodeId: string, durationMs: number, over = {}) =>
  ended(nodeId, 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback', durationMs, ...over });
const returned = (nodeId: string, status: 'rolled_back' | 'failed') =>
  ended(nodeId, status, {
    attemptCount: 2,
    requestedAttempt: 2,
    attemptDirection: 'rollback',
    endedAt: 4_000,
    durationMs: 5,
  });

describe('a rollback that is ordered', () => {
  test('begins when what runs has ended, and nothing new starts meanwhile', () => {
    const nodes = [ended('a', 'succeeded'), inFlight('b'), aRow('c')];
    const draining = aSnapshot({ rollout: { batchSize: 9 }, nodes, controls: [ordered] });
    expect(told(decideNext(draining, now))).toBe('wait rollback_draining nodes_in_flight (running)');
    const drained = aSnapshot({ nodes: [ended('a', 'succeeded'), aRow('c')], controls: [ordered] });
    expect(told(decideNext(drained, now))).toBe('roll_back rollback_by_operator');
  });

  test.each(['paused', 'completed', 'failed', 'canceled'] as const)('begins from %s too (C3, C10a)', (status) => {
    const snapshot = aSnapshot({
      rollout: { status, statusChangedAt: 1_500 },
      nodes: [ended('a', 'succeeded')],
      controls: [aControl('cancel', 1_400), ordered],
    });
    expect(told(decideNext(snapshot, now))).toBe('roll_back rollback_by_operator');
  });

  test('is taken back by a cancel that comes before it has begun: the last one wins (field-case 92)', () => {
    const snapshot = aSnapshot({ nodes: [ended('a', 'succeeded')], controls: [ordered, aControl('cancel', 2_500)] });
    expect(told(decideNext(snapshot, now))).toBe('finish canceled canceled_by_operator');
  });

  test('clears a pause (field-case 94)', () => {
    const snapshot = aSnapshot({
      rollout: { ...back, status: 'running' },
      nodes: [due('a', 5)],
      controls: [aControl('pause', 1_000), ordered],
    });
    expect(told(decideNext(snapshot, now))).toBe('run a#2 (running)');
  });
});

describe('the way back', () => {
  test('goes in batches of batch_size, fastest first (C3)', () => {
    const nodes = [due('slow', 900), due('b', 100), due('a', 100), due('unknown', 0, { durationMs: null })];
    expect(told(decideNext(aSnapshot({ rollout: back, nodes, controls: [ordered] }), now))).toBe(
      'run a#2 b#2 (running)',
    );
  });

  test('begins the next batch when the one before has ended, healthy again (field-case 102)', () => {
    const validating = inFlight('b', { status: 'validating', attemptCount: 2, requestedAttempt: 2, startedAt: 3_000 });
    const nodes = [returned('a', 'rolled_back'), validating, due('c', 200)];
    expect(told(decideNext(aSnapshot({ rollout: back, nodes, controls: [ordered] }), now))).toBe(
      'wait nodes_in_flight (running)',
    );
    const after = [returned('a', 'rolled_back'), returned('b', 'rolled_back'), due('c', 200)];
    expect(told(decideNext(aSnapshot({ rollout: back, nodes: after, controls: [ordered] }), now))).toBe(
      'run c#2 (running)',
    );
  });

  test('has no canaries, no observation and no approval (field-case 97)', () => {
    const rollout = { ...back, strategy: 'canary', migrationType: 'breaking' } as const;
    const nodes = [due('a', 5, { batchIndex: 0 }), due('b', 4, { batchIndex: 1 })];
    expect(told(decideNext(aSnapshot({ rollout, nodes, controls: [ordered] }), now))).toBe('run b#2 a#2 (running)');
  });

  test('is held neither by a halted chain nor by the threshold', () => {
    const chain = { bestHeight: 7, heightGrewAt: 0, maxBlockIntervalMs: 1_000 };
    const nodes = [returned('a', 'failed'), due('b', 4)];
    expect(told(decideNext(aSnapshot({ rollout: back, chain, nodes, controls: [ordered] }), now))).toBe(
      'run b#2 (running)',
    );
  });

  test('obeys max_in_flight (field-case 102)', () => {
    const nodes = [due('a', 1), due('b', 2)];
    const rollout = { ...back, maxInFlight: 1 };
    expect(told(decideNext(aSnapshot({ rollout, nodes, controls: [ordered] }), now))).toBe('run a#2 (running)');
  });

  test('a node that a gate holds keeps no other from going back', () => {
    const nodes = [due('a', 1), due('b', 2), due('c', 3)];
    const fleet = [aNode('a', { busyWithRolloutId: 'r2' })];
    const snapshot = aSnapshot({ rollout: back, nodes, fleet, controls: [ordered] });
    expect(told(decideNext(snapshot, now))).toBe('run b#2 c#2 (running)');
    const left = aSnapshot({
      rollout: back,
      nodes: [due('a', 1), returned('b', 'rolled_back')],
      fleet,
      controls: [ordered],
    });
    expect(told(decideNext(left, now))).toBe('wait node_busy (running)');
  });

  test('an offer that lapsed is made again within its batch, and the batch grows by no other', () => {
    const taken = inFlight('a', { attemptCount: 2, requestedAttempt: 2 });
    const nodes = [taken, due('b', 2, { offeredAt: now - 60_000 }), due('c', 3)];
    expect(told(decideNext(aSnapshot({ rollout: back, nodes, controls: [ordered] }), now))).toBe('run b#2 (running)');
  });

  test('a retry that was wanted before is not begun any more', () => {
    const nodes = [ended('f', 'failed', { requestedAttempt: 2 }), returned('a', 'rolled_back')];
    expect(told(decideNext(aSnapshot({ rollout: back, nodes, controls: [ordered] }), now))).toBe(
      'finish rolled_back rollback_completed',
    );
  });

  test('rows that never ran are left alone', () => {
    const nodes = [aRow('p'), ended('f', 'failed'), returned('a', 'rolled_back')];
    expect(told(decideNext(aSnapshot({ rollout: back, nodes, controls: [ordered] }), now))).toBe(
      'finish rolled_back rollback_completed',
    );
  });

  test('can be paused and resumed', () => {
    const nodes = [inFlight('a', { attemptCount: 2, requestedAttempt: 2 }), due('b', 2)];
    const controls = [ordered, aControl('pause', 5_000)];
    expect(told(decideNext(aSnapshot({ rollout: back, nodes, controls }), now))).toBe(
      'wait pausing paused_by_operator nodes_in_flight (running)',
    );
    const still = [returned('a', 'rolled_back'), due('b', 2)];
    expect(told(decideNext(aSnapshot({ rollout: back, nodes: still, controls }), now))).toBe(
      'pause paused_by_operator',
    );
    const paused = { ...back, status: 'paused', statusReason: 'paused_by_operator', statusChangedAt: 6_000 } as const;
    const resumed = aSnapshot({ rollout: paused, nodes: still, controls: [...controls, aControl('resume', 7_000)] });
    expect(told(decideNext(resumed, now))).toBe('run b#2 (running)');
  });

  test('can be cancelled, and ordered again after that', () => {
    const nodes = [returned('a', 'rolled_back'), due('b', 2)];
    const controls = [ordered, aControl('cancel', 5_000)];
    expect(told(decideNext(aSnapshot({ rollout: back, nodes, controls }), now))).toBe(
      'finish canceled canceled_by_operator',
    );
    const over = { ...back, status: 'canceled', statusChangedAt: 6_000 } as const;
    expect(told(decideNext(aSnapshot({ rollout: over, nodes, controls }), now))).toBe(
      'finish canceled canceled_by_operator',
    );
    const again = aSnapshot({ rollout: over, nodes, controls: [...controls, aControl('rollback', 7_000)] });
    expect(told(decideNext(again, now))).toBe('roll_back rollback_by_operator');
  });
});

describe('the end of a rollback', () => {
  test('is rolled_back when every node went back; a node that failed on the way up does not count', () => {
    const nodes = [returned('a', 'rolled_back'), ended('up', 'failed'), ended('undone', 'rolled_back')];
    expect(decideNext(aSnapshot({ rollout: back, nodes, controls: [ordered] }), now)).toEqual({
      kind: 'finish',
      status: 'rolled_back',
      reason: { code: 'rollback_completed', params: { count: 1 } },
    });
  });

  test('is failed with the nodes that did not get back', () => {
    const nodes = [returned('a', 'rolled_back'), returned('b', 'failed')];
    expect(decideNext(aSnapshot({ rollout: back, nodes, controls: [ordered] }), now)).toMatchObject({
      kind: 'finish',
      status: 'failed',
      reason: { code: 'rollback_incomplete', params: { count: 1 }, nodeIds: ['b'] },
    });
  });

  test('is not begun again by the order that began it', () => {
    const rollout = { ...back, status: 'rolled_back', statusChangedAt: 9_000 } as const;
    const snapshot = aSnapshot({ rollout, nodes: [returned('a', 'rolled_back')], controls: [ordered] });
    expect(told(decideNext(snapshot, now))).toBe('finish rolled_back rollback_completed');
  });
});
