import { describe, expect, test } from 'vitest';
import { decideNext } from './decide-next.ts';
import { told } from './testing/decision-line.ts';
import { aControl, aRow, aSnapshot, ended, inFlight } from './testing/snapshot-builder.ts';

const now = 10_000;
describe('rolling', () => {
  const two = { strategy: 'rolling', batchSize: 2, failureThreshold: 0.5 } as const;

  test('the first batch starts, and no other', () => {
    const nodes = [aRow('a'), aRow('b'), aRow('c', { batchIndex: 1 })];
    expect(told(decideNext(aSnapshot({ rollout: two, nodes }), now))).toBe('run a#1 b#1 (running)');
  });

  test('a batch waits for every row of the one before, validating ones included (field-case 78)', () => {
    const nodes = [ended('a', 'succeeded'), inFlight('b', { status: 'validating' }), aRow('c', { batchIndex: 1 })];
    expect(told(decideNext(aSnapshot({ rollout: two, nodes }), now))).toBe('wait nodes_in_flight (running)');
  });

  test('the next batch starts as soon as the last row of the batch ended, however fast (field-case 80)', () => {
    const nodes = [ended('a', 'succeeded'), ended('b', 'succeeded'), aRow('c', { batchIndex: 1 })];
    expect(told(decideNext(aSnapshot({ rollout: two, nodes }), now))).toBe('run c#1 (running)');
  });

  test('skipped rows count as ended and are not attempted: the rest still comes to its end (field-case 81)', () => {
    const nodes = [aRow('a', { status: 'skipped' }), aRow('b', { status: 'skipped' }), aRow('c', { batchIndex: 1 })];
    expect(told(decideNext(aSnapshot({ rollout: two, nodes }), now))).toBe('run c#1 (running)');
  });

  test('an offer is not made twice while it is fresh, and wakes the rollout when it lapses', () => {
    const nodes = [aRow('a', { offeredAt: now - 10_000 }), aRow('b', { offeredAt: now - 5_000 })];
    const decision = decideNext(aSnapshot({ rollout: two, nodes }), now);
    expect(told(decision)).toBe('wait nodes_offered (running)');
    expect(decision).toMatchObject({ until: now + 20_000 });
  });

  test('an offer that nobody took is made again after half a minute (C7)', () => {
    const nodes = [aRow('a', { offeredAt: now - 30_000 }), aRow('b', { offeredAt: now - 29_999 })];
    expect(told(decideNext(aSnapshot({ rollout: two, nodes }), now))).toBe('run a#1 (running)');
  });

  test('it is completed when every row has ended (field-case 105)', () => {
    const nodes = [ended('a', 'succeeded'), aRow('b', { status: 'skipped' })];
    const decision = decideNext(aSnapshot({ rollout: two, nodes }), now);
    expect(decision).toEqual({
      kind: 'finish',
      status: 'completed',
      reason: { code: 'all_nodes_ended', params: { succeeded: 1, failed: 0, skipped: 1 } },
    });
  });
});

describe('before it runs', () => {
  test('a pending rollout waits for its start and says so', () => {
    const snapshot = aSnapshot({ rollout: { status: 'pending' }, nodes: [aRow('a')] });
    expect(told(decideNext(snapshot, now))).toBe('wait not_started (pending)');
  });

  test('a start makes it running before anything else happens', () => {
    const snapshot = aSnapshot({
      rollout: { status: 'pending' },
      nodes: [aRow('a')],
      controls: [aControl('start', 1)],
    });
    const decision = decideNext(snapshot, now);
    expect(told(decision)).toBe('wait started_by_operator (running)');
    expect(decision).toMatchObject({ until: now });
  });

  test('nothing starts before the targets are resolved', () => {
    const snapshot = aSnapshot({ rollout: { targetsResolved: false }, nodes: [aRow('a')] });
    expect(told(decideNext(snapshot, now))).toBe('wait targets_unresolved (running)');
  });

  test('a pending rollout is cancelled at once', () => {
    const snapshot = aSnapshot({
      rollout: { status: 'pending', targetsResolved: false },
      controls: [aControl('cancel', 1)],
    });
    expect(told(decideNext(snapshot, now))).toBe('finish canceled canceled_by_operator');
  });
});

describe('an end with nothing done (field-case 84)', () => {
  test('is completed when every node ran the target already', () => {
    const nodes = [aRow('a', { status: 'skipped', statusReason: 'already_at_target' })];
    expect(told(decideNext(aSnapshot({ nodes }), now))).toBe('finish completed all_nodes_ended');
  });

  test('is a failure when the nodes were left out for another reason', () => {
    const nodes = [
      aRow('a', { status: 'skipped', statusReason: 'already_at_target' }),
      aRow('b', { status: 'skipped', statusReason: 'agent_offline' }),
    ];
    expect(told(decideNext(aSnapshot({ nodes }), now))).toBe('finish failed no_eligible_targets');
  });

  test('is a failure when there is no node at all', () => {
    expect(told(decideNext(aSnapshot({ nodes: [] }), now))).toBe('finish failed no_eligible_targets');
  });
});

describe('pause and resume', () => {
  const pending = aRow('z', { batchIndex: 1 });

  test('a pause lets nodes in flight end and starts no new ones', () => {
    const nodes = [inFlight('a'), aRow('b'), pending];
    const snapshot = aSnapshot({ nodes, controls: [aControl('pause', 900)] });
    expect(told(decideNext(snapshot, now))).toBe('wait pausing paused_by_operator nodes_in_flight (running)');
  });

  test('a pause waits for an offer that a child may still take', () => {
    const nodes = [aRow('b', { offeredAt: now - 1 }), pending];
    const snapshot = aSnapshot({ nodes, controls: [aControl('pause', 900)] });
    expect(told(decideNext(snapshot, now))).toBe('wait pausing paused_by_operator nodes_offered (running)');
  });

  test('when nothing is under way any more it is paused', () => {
    const snapshot = aSnapshot({ nodes: [ended('a', 'succeeded'), pending], controls: [aControl('pause', 900)] });
    expect(told(decideNext(snapshot, now))).toBe('pause paused_by_operator');
  });

  test('a paused rollout stays paused with the same reason, however long it is (field-case 91)', () => {
    const nodes = [ended('a', 'succeeded'), pending];
    const controls = [aControl('pause', 900)];
    const first = decideNext(aSnapshot({ nodes, controls }), now);
    const rollout = { status: 'paused', statusReason: 'paused_by_operator', statusChangedAt: now } as const;
    expect(decideNext(aSnapshot({ rollout, nodes, controls }), now + 365 * 86_400_000)).toEqual(first);
  });

  test('a resume makes it running again', () => {
    const rollout = { status: 'paused', statusReason: 'paused_by_operator', statusChangedAt: 950 } as const;
    const controls = [aControl('pause', 900), aControl('resume', 2_000)];
    const snapshot = aSnapshot({ rollout, nodes: [ended('a', 'succeeded'), pending], controls });
    expect(told(decideNext(snapshot, now))).toBe('run z#1 (running)');
  });

  test('of pause and resume the last one wins', () => {
    const nodes = [inFlight('a'), pending];
    const lifted = aSnapshot({ nodes, controls: [aControl('pause', 900), aControl('resume', 901)] });
    expect(told(decideNext(lifted, now))).toBe('wait nodes_in_flight (running)');
    const again = aSnapshot({
      nodes,
      controls: [aControl('pause', 900), aControl('resume', 901), aControl('pause', 902)],
    });
    expect(told(decideNext(again, now))).toContain('pausing');
  });
});

describe('cancel', () => {
  test('in-flight nodes run to their end and nothing new starts', () => {
    const nodes = [inFlight('a'), aRow('b'), ended('c', 'failed', { requestedAttempt: 2 })];
    const snapshot = aSnapshot({ rollout: { batchSize: 5 }, nodes, controls: [aControl('cancel', 900)] });
    expect(told(decideNext(snapshot, now))).toBe('wait canceling nodes_in_flight (running)');
  });

  test('it is written only after the last child has ended (C2a, field-case 115)', () => {
    const nodes = [ended('a', 'succeeded'), aRow('b')];
    expect(told(decideNext(aSnapshot({ nodes, controls: [aControl('cancel', 900)] }), now))).toBe(
      'finish canceled canceled_by_operator',
    );
  });

  test.each(['resume', 'force', 'approve_canary', 'pause', 'start'] as const)(
    'is sticky: %s after it starts nothing (field-case 90)',
    (kind) => {
      const controls = [aControl('cancel', 900), aControl(kind, 950)];
      const nodes = [ended('a', 'succeeded'), aRow('b')];
      expect(told(decideNext(aSnapshot({ nodes, controls }), now))).toBe('finish canceled canceled_by_operator');
      const over = { status: 'canceled', statusReason: 'canceled_by_operator', statusChangedAt: 920 } as const;
      expect(told(decideNext(aSnapshot({ rollout: over, nodes, controls }), now))).toBe(
        'finish canceled canceled_by_operator',
      );
    },
  );
});

describe('retry (C8)', () => {
  const wanted = ended('a', 'failed', { requestedAttempt: 2 });

  test('starts whatever its batch, as the next attempt', () => {
    const nodes = [wanted, inFlight('z', { batchIndex: 1 })];
    const snapshot = aSnapshot({ rollout: { failureThreshold: 1 }, nodes });
    expect(told(decideNext(snapshot, now))).toBe('run a#2 (running)');
  });

  test('starts while the rollout is paused, which stays paused', () => {
    const rollout = { status: 'paused', statusReason: 'failure_threshold_exceeded', statusChangedAt: 1_500 } as const;
    const snapshot = aSnapshot({ rollout, nodes: [wanted, aRow('z', { batchIndex: 1 })] });
    expect(told(decideNext(snapshot, now))).toBe('run a#2 (paused)');
    const running = aSnapshot({ rollout, nodes: [inFlight('a', { attemptCount: 2, requestedAttempt: 2 })] });
    expect(told(decideNext(running, now))).toMatch(/^wait .*nodes_in_flight \(paused\)$/);
  });

  test.each(['completed', 'failed', 'rolled_back'] as const)('runs in a %s rollout, whose status stays', (status) => {
    const snapshot = aSnapshot({ rollout: { status }, nodes: [wanted, aRow('z')] });
    expect(told(decideNext(snapshot, now))).toBe(`run a#2 (${status})`);
  });

  test('that was ordered on the way up does not run after the rollback', () => {
    const rollout = { status: 'rolled_back', direction: 'rollback' } as const;
    expect(told(decideNext(aSnapshot({ rollout, nodes: [wanted] }), now))).toBe(
      'finish rolled_back rollback_completed',
    );
  });

  test('does not run in a cancelled rollout', () => {
    const snapshot = aSnapshot({ rollout: { status: 'canceled' }, nodes: [wanted] });
    expect(told(decideNext(snapshot, now))).toBe('finish canceled canceled_by_operator');
  });

  test('is not held by a halted chain: it may be the cure (D4a)', () => {
    const chain = { bestHeight: 7, heightGrewAt: 0, maxBlockIntervalMs: 1_000 };
    expect(told(decideNext(aSnapshot({ rollout: { failureThreshold: 1 }, chain, nodes: [wanted] }), now))).toBe(
      'run a#2 (running)',
    );
  });
});
