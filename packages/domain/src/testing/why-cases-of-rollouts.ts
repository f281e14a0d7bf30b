import { isoTime } from '../iso-time.ts';
import { reason } from '../reasons.ts';
import type { RolloutFacts } from '../rollout-snapshot.ts';
import { WEEKDAYS } from '../weekly-window.ts';
import { aBudget, aControl, aNode, aRelease, aRow, ended, inFlight, type SnapshotParts } from './snapshot-builder.ts';
import { ofNode, ofRollout, type WhyCase } from './why-case.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Canaries that ended `ago` milliseconds ago, then a second batch. */
function afterCanary(now: number, ago: number, rollout: Partial<RolloutFacts> = {}): SnapshotParts {
  const at = { startedAt: now - ago - SECOND, endedAt: now - ago };
  return {
    rollout: { strategy: 'canary', statusChangedAt: now - 2 * HOUR, ...rollout },
    nodes: [ended('a', 'succeeded', at), aRow('b', { batchIndex: 1 })],
  };
}

const over = (status: RolloutFacts['status'], told: Parameters<typeof ofRollout>[1]) => () =>
  ofRollout({ rollout: { status }, nodes: [ended('a', status === 'failed' ? 'failed' : 'succeeded')] }, told);

/** For tests: cases of what a person ordered, and of the rollout as a whole. */
export const ROLLOUT_CASES = {
  not_started: () => ofRollout({ rollout: { status: 'pending', targetsResolved: false } }),
  started_by_operator: (now) =>
    ofRollout({ rollout: { status: 'pending', targetsResolved: false }, controls: [aControl('start', now - SECOND)] }),
  resumed_by_operator: (now) =>
    ofRollout(
      {
        rollout: { status: 'paused', statusChangedAt: now - HOUR },
        nodes: [ended('a', 'succeeded')],
        controls: [aControl('resume', now - SECOND)],
      },
      reason('paused_by_operator', { actor: 'ann', why: 'because' }),
    ),
  paused_by_operator: (now) =>
    ofRollout(
      { rollout: { status: 'paused' }, nodes: [aRow('a')], controls: [aControl('pause', now - HOUR)] },
      reason('paused_by_operator', { actor: 'ann', why: 'because' }),
    ),
  pausing: (now) => ofRollout({ nodes: [inFlight('a'), aRow('b')], controls: [aControl('pause', now)] }),
  canceling: (now) => ofRollout({ nodes: [inFlight('a'), aRow('b')], controls: [aControl('cancel', now)] }),
  canceled_by_operator: over('canceled', reason('canceled_by_operator', { actor: 'ann', why: 'because' })),
  rollback_draining: (now) => ofRollout({ nodes: [inFlight('a')], controls: [aControl('rollback', now)] }),
  rollback_by_operator: (now) =>
    ofRollout({ nodes: [ended('a', 'succeeded')], controls: [aControl('rollback', now - SECOND)] }),
  retry_by_operator: (now) =>
    ofNode('a', {
      rollout: { failureThreshold: 1 },
      nodes: [ended('a', 'failed', { requestedAttempt: 2 }), aRow('b', { batchIndex: 1 })],
      controls: [aControl('retry', now, { nodeId: 'a' })],
    }),
  targets_unresolved: (now) =>
    ofRollout({ rollout: { targetsResolved: false }, controls: [aControl('start', now - SECOND)] }),
  nodes_in_flight: () => ofRollout({ nodes: [inFlight('a'), aRow('b', { batchIndex: 1 })] }),
  nodes_offered: (now) => ofRollout({ nodes: [aRow('a', { offeredAt: now - SECOND })] }),
  internal_error: over('failed', reason('internal_error', { error: 'the disk of the worker is full' })),
  all_nodes_ended: over('completed', reason('all_nodes_ended', { succeeded: 1, failed: 0, skipped: 0 })),
  no_eligible_targets: over('failed', reason('no_eligible_targets')),
  rollback_completed: over('rolled_back', reason('rollback_completed', { count: 1 })),
  rollback_incomplete: over('failed', reason('rollback_incomplete', { count: 1 })),
  // the strategy and its batches
  batch_waits: () =>
    ofNode('c', {
      rollout: { batchSize: 2 },
      nodes: [inFlight('a'), aRow('b'), aRow('c', { batchIndex: 1 })],
    }),
  batch_started: () => ofNode('a', { nodes: [aRow('a')] }),
  start_offered: (now) => ofNode('a', { nodes: [aRow('a', { offeredAt: now - SECOND })] }),
  rollback_turn: () =>
    ofNode('b', {
      rollout: { direction: 'rollback' },
      nodes: [
        inFlight('a', { attemptDirection: 'rollback', attemptCount: 2 }),
        ended('b', 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback', batchIndex: 1 }),
      ],
    }),
  canary_observation: (now) => ofRollout(afterCanary(now, SECOND)),
  waiting_for_approval: (now) => ofRollout(afterCanary(now, HOUR, { migrationType: 'breaking' })),
  second_person_needed: (now) =>
    ofNode('b', afterCanary(now, HOUR, { migrationType: 'breaking', approvalBarredFor: 'key:test' })),
  canary_failed: (now) => ({
    ...ofRollout({
      rollout: { strategy: 'canary', failureThreshold: 1, statusChangedAt: now - 2 * HOUR },
      nodes: [ended('a', 'failed', { endedAt: now - SECOND }), aRow('b', { batchIndex: 1 })],
    }),
  }),
  canary_not_proven: () =>
    ofRollout({
      rollout: { strategy: 'canary' },
      nodes: [aRow('a', { status: 'skipped' }), aRow('b', { batchIndex: 1 })],
    }),
  canary_unhealthy: (now) =>
    ofRollout({ ...afterCanary(now, HOUR), fleet: [aNode('a', { state: 'degraded', lastHeartbeatAt: now })] }),
  // start gates
  max_in_flight_reached: () =>
    ofNode('b', { rollout: { strategy: 'all_at_once', maxInFlight: 1 }, nodes: [inFlight('a'), aRow('b')] }),
  quorum_at_risk: () =>
    ofNode('b', {
      rollout: { batchSize: 2 },
      nodes: [inFlight('a'), aRow('b')],
      fleet: [aNode('a', { votingPower: 10n }), aNode('b', { votingPower: 30n })],
      quorum: { down: 10n, names: ['a'] },
    }),
  voting_power_unknown: () => ofNode('a', { nodes: [aRow('a')], quorum: { total: null } }),
  disruption_budget_reached: () =>
    ofNode('b', {
      rollout: { batchSize: 2 },
      nodes: [inFlight('a'), aRow('b')],
      budgets: [aBudget({ name: 'racks', maxUnavailable: '10%', members: 2, names: ['a'] })],
    }),
  agent_offline: (now) =>
    ofNode('a', {
      rollout: { offlinePolicy: 'wait' },
      nodes: [aRow('a')],
      fleet: [aNode('a', { online: false, lastHeartbeatAt: now - HOUR })],
    }),
  node_busy: () => ofNode('a', { nodes: [aRow('a')], fleet: [aNode('a', { busyWithRolloutId: 'other' })] }),
  node_held: (now) => {
    const hold = { actor: 'ann', reason: 'its disk is being moved', until: now + 3_600_000 };
    return ofNode('a', { nodes: [aRow('a')], fleet: [aNode('a', { hold })] });
  },
  on_duty: () => {
    const duties = [{ name: 'proposer', free: false, waitSeconds: 90, missing: [] }];
    return ofNode('a', { nodes: [aRow('a')], fleet: [aNode('a', { duties })] });
  },
  duty_unknown: () => {
    const duties = [{ name: 'proposer', free: null, waitSeconds: null, missing: ['slots_to_next_duty'] }];
    return ofNode('a', { nodes: [aRow('a')], fleet: [aNode('a', { duties })] });
  },
  node_quarantined: () => ofNode('a', { nodes: [aRow('a')], fleet: [aNode('a', { quarantined: true })] }),
  frozen: (now) => {
    const times = { from: isoTime(now - DAY), to: isoTime(now + DAY) };
    return ofNode('a', {
      nodes: [aRow('a')],
      freezes: [{ name: 'payout', spec: { scope: { chains: ['chain'] }, ...times, reason: 'the payout is made' } }],
    });
  },
  outside_window: (now) => {
    // Open for some minutes a week, in three days: closed whenever a test runs.
    const [day] = new Date(now + 3 * DAY).toUTCString().toLowerCase().split(',');
    const days = WEEKDAYS.filter((one) => one === day);
    const weekly = [{ days, from: '12:00', to: '12:01' }];
    return ofNode('a', {
      nodes: [aRow('a')],
      windows: [{ name: 'nights', spec: { scope: { chains: ['chain'] }, time_zone: 'UTC', weekly } }],
    });
  },
  release_too_young: (now) =>
    ofNode('a', { nodes: [aRow('a')], trust: aRelease({ minimumAgeMs: 72 * HOUR }, { releasedAt: now - HOUR }) }),
  origin_not_allowed: () =>
    ofNode('a', { nodes: [aRow('a')], trust: aRelease({ allowedOrigins: ['https://github.com/cosmos'] }) }),
  manifest_signer_untrusted: () =>
    ofNode('a', {
      nodes: [aRow('a')],
      trust: aRelease({ manifestKeys: ['0123456789ABCDEF'] }, { manifest: { key: 'FEDCBA9876543210' } }),
    }),
  start_approval_needed: () =>
    ofNode('a', {
      nodes: [aRow('a')],
      trust: aRelease({ twoPersons: true }, { approval: { creator: 'key:test', approvedBy: null } }),
    }),
  signature_demanded: () => ofNode('a', { nodes: [aRow('a')], trust: aRelease({ signatureRequired: true }) }),
  waiting_for_start_time: (now) => ofNode('a', { rollout: { startAt: now + DAY }, nodes: [aRow('a')] }),
  waiting_for_height: (now) =>
    ofNode('a', {
      rollout: { startAtHeight: 500 },
      nodes: [aRow('a')],
      chain: { bestHeight: 480, heightGrewAt: now, blockIntervalMs: 6 * SECOND },
    }),
  staging_nodes: () =>
    ofNode('a', { rollout: { stage: true, batchSize: 2 }, nodes: [aRow('a', { stageState: 'staged' }), aRow('b')] }),
  armed_for_height: (now) =>
    ofNode('a', {
      rollout: { strategy: 'all_at_once', stage: true, activation: 'height', startAtHeight: 500 },
      nodes: [aRow('a', { stageState: 'armed' })],
      chain: { bestHeight: 500, heightGrewAt: now },
    }),
  chain_height_unknown: () => ofNode('a', { rollout: { startAtHeight: 500 }, nodes: [aRow('a')] }),
  chain_halted: (now) =>
    ofRollout({
      nodes: [aRow('a')],
      chain: { bestHeight: 7, heightGrewAt: now - HOUR, maxBlockIntervalMs: 60 * SECOND },
    }),
  failure_threshold_exceeded: () => ofRollout({ nodes: [ended('a', 'failed'), aRow('b', { batchIndex: 1 })] }),
  failure_class_limit: () =>
    ofRollout({
      rollout: { failureThreshold: 1, failureClasses: { artifact: 0, infrastructure: 3, state: 0 } },
      nodes: [ended('a', 'failed', { failureClass: 'artifact' }), aRow('b', { batchIndex: 1 })],
    }),
  max_failures_exceeded: () =>
    ofRollout({
      rollout: { failureThreshold: 1, maxFailures: 0 },
      nodes: [ended('a', 'failed'), aRow('b', { batchIndex: 1 })],
    }),
} as const satisfies Readonly<Record<string, (now: number) => WhyCase>>;
