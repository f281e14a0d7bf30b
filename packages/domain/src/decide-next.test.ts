import { describe, expect, test } from 'vitest';
import { decideNext } from './decide-next.ts';
import { told } from './testing/decision-line.ts';
import { aControl, aNode, aRow, aSnapshot, ended, inFlight } from './testing/snapshot-builder.ts';

const now = 10_000;
describe('rolling', () => {
  const two = { strategy: 'rolling', batchSize: 2, failureThreshold: 0.5 } as const;

  test('the first batch starts, and no other', () => {
    const nodes = [aRow('a'), aRow('b'), aRow('c', { batchIndex: 1 })];
    expect(told(decideNext(aSnapshot({ rollout: two, nodes }), now))).toBe('run a#1 b#1 (running)');
  });

  test('a batch waits for every row of the one before, validating ones included', () => {
    const nodes = [ended('a', 'succeeded'), inFlight('b', { status: 'validating' }), aRow('c', { batchIndex: 1 })];
    expect(told(decideNext(aSnapshot({ rollout: two, nodes }), now))).toBe('wait nodes_in_flight (running)');
  });

  test('the next batch starts as soon as the last row of the batch ended, however fast (field-case 80)', () => {
    const nodes = [ended('a', 'succeeded'), ended('b', 'succeeded'), aRow('c', { batchIndex: 1 })];
    expect(told(decideNext(aSnapshot({ rollout: two, nodes }), now))).toBe('run c#1 (running)');
  });

  test('skipped rows count as ended and are not attempted', () => {
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

  test('a paused rollout that is asked again stays paused with the same reason', () => {
    const nodes = [ended('a', 'succeeded'), pending];
    const controls = [aControl('pause', 900)];
    const first = decideNext(aSnapshot({ nodes, controls }), now);
    const rollout = { status: 'paused', statusReason: 'paused_by_operator', statusChangedAt: now } as const;
    expect(decideNext(aSnapshot({ rollout, nodes, controls }), now + 5_000)).toEqual(first);
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

describe('failure threshold (C5)', () => {
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

describe('cancel', () => {
  test('in-flight nodes run to their end and nothing new starts', () => {
    const nodes = [inFlight('a'), aRow('b'), ended('c', 'failed', { requestedAttempt: 2 })];
    const snapshot = aSnapshot({ rollout: { batchSize: 5 }, nodes, controls: [aControl('cancel', 900)] });
    expect(told(decideNext(snapshot, now))).toBe('wait canceling nodes_in_flight (running)');
  });

  test('it is written only after the last child has ended (C2a)', () => {
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

describe('start gates', () => {
  const halted = { bestHeight: 7, heightGrewAt: 0, maxBlockIntervalMs: 1_000 };

  test('a halted chain pauses the rollout once nothing is in flight (D4a)', () => {
    expect(told(decideNext(aSnapshot({ chain: halted, nodes: [aRow('a')] }), now))).toBe('pause chain_halted');
    const busy = aSnapshot({ rollout: { batchSize: 2 }, chain: halted, nodes: [inFlight('a'), aRow('b')] });
    expect(told(decideNext(busy, now))).toBe('wait pausing chain_halted nodes_in_flight (running)');
  });

  test('an unknown height is not a halt', () => {
    const chain = { ...halted, heightGrewAt: null };
    expect(told(decideNext(aSnapshot({ chain, nodes: [aRow('a')] }), now))).toBe('run a#1 (running)');
  });

  test('a halted chain holds neither all_at_once nor a forced rollout', () => {
    const nodes = [aRow('a')];
    const all = aSnapshot({ rollout: { strategy: 'all_at_once' }, chain: halted, nodes });
    expect(told(decideNext(all, now))).toBe('run a#1 (running)');
    const forced = aSnapshot({ chain: halted, nodes, controls: [aControl('force', 1)] });
    expect(told(decideNext(forced, now))).toBe('run a#1 (running)');
  });

  test('an offline node is waited for under policy wait, and says since when (field-case 109)', () => {
    const fleet = [aNode('a', { online: false, lastHeartbeatAt: 0 })];
    const decision = decideNext(aSnapshot({ rollout: { offlinePolicy: 'wait' }, nodes: [aRow('a')], fleet }), now);
    expect(decision).toMatchObject({
      kind: 'wait',
      reasons: [{ code: 'agent_offline', params: { node: 'a', since: '1970-01-01T00:00:00.000Z' }, nodeIds: ['a'] }],
    });
  });

  test('under policy skip its own pre-check decides, so it holds nobody', () => {
    const fleet = [aNode('a', { online: false })];
    expect(told(decideNext(aSnapshot({ nodes: [aRow('a')], fleet }), now))).toBe('run a#1 (running)');
  });

  test('a node that another rollout changes is waited for (C2a)', () => {
    const fleet = [aNode('a', { busyWithRolloutId: 'r0' })];
    const nodes = [aRow('a'), aRow('b')];
    const decision = decideNext(aSnapshot({ rollout: { batchSize: 2 }, nodes, fleet }), now);
    expect(told(decision)).toBe('run b#1 (running)');
    expect(decision).toMatchObject({ reasons: [{ code: 'node_busy', nodeIds: ['a'] }] });
  });

  test('a quarantined node is not started, not even as a retry (B3)', () => {
    const fleet = [aNode('a', { quarantined: true })];
    const nodes = [ended('a', 'failed', { requestedAttempt: 2 })];
    const decision = decideNext(aSnapshot({ rollout: { failureThreshold: 1 }, nodes, fleet }), now);
    expect(told(decision)).toBe('wait node_quarantined (running)');
  });

  test('max_in_flight caps nodes in flight and offered ones together (C7)', () => {
    const nodes = [inFlight('a'), aRow('b', { offeredAt: now }), aRow('c'), aRow('d')];
    const rollout = { strategy: 'all_at_once', maxInFlight: 3 } as const;
    expect(told(decideNext(aSnapshot({ rollout, nodes }), now))).toBe('run c#1 (running)');
    const full = aSnapshot({ rollout: { ...rollout, maxInFlight: 2 }, nodes });
    expect(decideNext(full, now)).toMatchObject({
      kind: 'wait',
      reasons: [
        { code: 'nodes_in_flight' },
        { code: 'nodes_offered' },
        { code: 'max_in_flight_reached', params: { count: 2, limit: 2 } },
      ],
    });
  });

  test('an answer holds at most 500 nodes', () => {
    const nodes = Array.from({ length: 1_200 }, (_, index) => aRow(`n${index}`));
    const decision = decideNext(aSnapshot({ rollout: { strategy: 'all_at_once' }, nodes }), now);
    expect(decision).toMatchObject({ kind: 'run' });
    expect(decision.kind === 'run' && decision.nodes.length).toBe(500);
  });
});
