import { type Reason, reason } from '../reasons.ts';
import type { RolloutNodeFacts } from '../rollout-snapshot.ts';
import type { CommandFacts } from '../why/attempt-why.ts';
import { aNode, aRow, ended, inFlight } from './snapshot-builder.ts';
import { ofNode, type WhyCase } from './why-case.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const SUM = `sha256:${'b'.repeat(64)}`;

function aCommand(now: number, over: Partial<CommandFacts>): CommandFacts {
  return {
    operation: 'UPGRADE',
    status: 'acknowledged',
    createdAt: now - MINUTE,
    deliveredAt: now - 50 * SECOND,
    acknowledgedAt: now - 49 * SECOND,
    deadlineAt: now + 10 * MINUTE,
    step: null,
    ...over,
  };
}

/** A node at work whose command is at this point. */
const commanded =
  (over: Partial<CommandFacts>, online = true) =>
  (now: number) =>
    ofNode(
      'a',
      {
        nodes: [inFlight('a', { startedAt: now - 2 * MINUTE })],
        fleet: [aNode('a', { online, lastHeartbeatAt: online ? now : now - 5 * MINUTE })],
      },
      { command: aCommand(now, over) },
    );

/** A node whose proof of health misses these. */
const proving =
  (...health: Reason[]) =>
  () =>
    ofNode('a', { nodes: [inFlight('a', { status: 'validating' })] }, { health });

const rowOf = (row: RolloutNodeFacts, statusReason: Reason | null) => () =>
  ofNode('a', { nodes: [{ ...row, statusReason: statusReason?.code ?? null }] }, { statusReason });
const leftOut = (why: Reason) => rowOf(aRow('a', { status: 'skipped' }), why);
const undone = (why: Reason) => rowOf(ended('a', 'rolled_back'), why);
const failed = (why: Reason) => rowOf(ended('a', 'failed'), why);
const done = (why: Reason | null) => rowOf(ended('a', 'succeeded'), why);
const error = 'the disk is full';

/** For tests: cases of one node, from its command to its end. */
export const NODE_CASES = {
  command_being_made: (now) => ofNode('a', { nodes: [inFlight('a', { startedAt: now - SECOND })] }),
  command_undelivered: commanded({ status: 'pending', deliveredAt: null, acknowledgedAt: null }),
  command_unacknowledged: commanded({ status: 'delivered', acknowledgedAt: null }),
  command_begins: commanded({}),
  agent_step: (now) => {
    const step = { action: 'acquire_artifact', since: now - 12 * SECOND, progressPct: 40, note: '10 of 26 MB' };
    const nodes = [inFlight('a', { startedAt: now - MINUTE, phase: 'PREPARING' })];
    return ofNode('a', { nodes }, { command: aCommand(now, { step }) }, { acquire_artifact: 9 * SECOND });
  },
  agent_silent: commanded({}, false),
  result_arrived: commanded({ status: 'completed' }),
  proof_begins: proving(),
  health_window: proving(reason('health_window', { until: '2026-01-01T00:00:00.000Z' })),
  not_stable_yet: proving(reason('not_stable_yet', { seconds: 3, wanted: 10 })),
  no_fresh_heartbeat: proving(reason('no_fresh_heartbeat')),
  heartbeats_stopped: proving(reason('heartbeats_stopped', { seconds: 31 })),
  wrong_version_running: proving(reason('wrong_version_running', { actual: 'unknown', expected: SUM })),
  application_critical: proving(reason('application_critical')),
  application_unknown: proving(reason('application_unknown')),
  sync_stalled: proving(reason('sync_stalled', { height: 7 })),
  sync_unknown: proving(reason('sync_unknown')),
  node_down: proving(reason('node_down', { state: 'down' })),
  crash_loop: proving(reason('crash_loop', { restarts: 4 })),
  no_main_process: proving(reason('no_main_process', { seconds: 10 })),
  not_ready: proving(reason('not_ready', { ready: 'false' })),
  health_passed: done(reason('health_passed')),
  // left out
  skipped_by_operator: leftOut(reason('skipped_by_operator', { actor: 'ann', why: 'because' })),
  already_at_target: leftOut(reason('already_at_target')),
  node_ineligible: leftOut(reason('node_ineligible', { state: 'terminating' })),
  node_type_mismatch: leftOut(reason('node_type_mismatch', { actual: 'full', wanted: 'validator' })),
  binary_missing: leftOut(reason('binary_missing', { binary: 'cometbft' })),
  runtime_mismatch: leftOut(reason('runtime_mismatch', { binary: 'cometbft', actual: 'process', wanted: 'docker' })),
  no_artifact_for_platform: leftOut(
    reason('no_artifact_for_platform', { platform: 'linux/arm64', known: 'linux/amd64' }),
  ),
  node_pinned: leftOut(
    reason('node_pinned', {
      version: 'v1.0.0',
      actor: 'ann',
      until: 'somebody releases it',
      why: 'the auditors want it',
    }),
  ),
  never_joined: leftOut(reason('never_joined')),
  earlier_component_failed: leftOut(reason('earlier_component_failed', { binary: 'execution' })),
  failed_this_version: leftOut(
    reason('failed_this_version', { version: 'v2.0.0', rollout: 'r0', at: '2026-01-01T00:00:00.000Z' }),
  ),
  // ended
  attempt_ended: done(null),
  left_stopped: done(reason('left_stopped')),
  validation_skipped: done(reason('validation_skipped')),
  upgrade_rolled_back: undone(reason('upgrade_rolled_back', { error })),
  upgrade_untouched: undone(reason('upgrade_untouched', { error })),
  upgrade_refused: failed(reason('upgrade_refused', { error })),
  health_failed: failed(reason('health_failed', { error })),
  failed_rollback: failed(reason('failed_rollback', { error })),
  agent_unreachable: failed(reason('agent_unreachable')),
  superseded: failed(reason('superseded')),
  not_in_rollout: (now) => ({
    kind: 'idle',
    node: { nodeId: 'a', joined: true, online: true, lastHeartbeatAt: now, quarantined: false },
  }),
} as const satisfies Readonly<Record<string, (now: number) => WhyCase>>;
