import { REASONS, type ReasonCode } from '../reasons.ts';

/** Where an answer to "why does it wait?" is decided. */
export const WAITING_SOURCES = {
  control: 'a person',
  rollout: 'the rollout as a whole',
  batches: 'the strategy and its batches',
  gate: 'a start gate',
  limit: 'a failure limit',
  command: 'the command that the agent has',
  proof: 'the proof of health',
  targets: 'the choice of nodes',
  end: 'the end of the attempt',
  group: 'the group',
} as const;
export type WaitingSource = keyof typeof WAITING_SOURCES;

interface WaitingReason {
  readonly from: WaitingSource;
  /** What the one who reads it does about it; one short sentence. */
  readonly next: string;
}

const NOTHING = 'Nothing: it goes on by itself.';
const READ_LOG = 'Read its log (hoodctl rollout logs), then retry it or leave it as it is.';
const LEFT_OUT = 'Mend it and upgrade the node with a rollout of its own, if it should have the version.';
const LOOK_AT_HOST = 'Look at the host: its agent is down or can not reach the gateway.';
const LOOK_AT_NODE = 'Look at the log of the node; past the window the upgrade is undone by itself.';
const JUDGE = 'Find out why they failed, then resume, force or roll back.';
const CANARY = 'Look at the canary, then resume to go on all the same, or roll back.';
const COMPONENT = "Look at that component's rollout.";

/**
 * Every reason that can be the answer to "why does it wait?", of a rollout, a node or a group, with what to do about it.
 * A reason is either here or in `HISTORY_ONLY`: the compiler asks for the decision, and `why-cases.ts` for a state that
 * produces it.
 */
export const WAITING_REASONS = {
  // ordered
  not_started: { from: 'control', next: 'Start it (hoodctl rollout start, group start).' },
  started_by_operator: { from: 'control', next: NOTHING },
  resumed_by_operator: { from: 'control', next: NOTHING },
  paused_by_operator: { from: 'control', next: 'Ask whoever paused it, then resume it.' },
  pausing: { from: 'control', next: NOTHING },
  canceling: { from: 'control', next: NOTHING },
  canceled_by_operator: { from: 'control', next: 'Create another rollout for the nodes that are left, or roll back.' },
  rollback_draining: { from: 'control', next: NOTHING },
  rollback_by_operator: { from: 'control', next: NOTHING },
  retry_by_operator: { from: 'control', next: NOTHING },
  skipped_by_operator: { from: 'control', next: LEFT_OUT },
  // the rollout
  targets_unresolved: { from: 'rollout', next: 'Nothing; if it lasts, see that a worker runs.' },
  nodes_in_flight: { from: 'rollout', next: NOTHING },
  nodes_offered: { from: 'rollout', next: 'Nothing; if it lasts, see that a worker runs.' },
  internal_error: { from: 'rollout', next: "Read the worker's log, mend the cause, then resume or retry." },
  all_nodes_ended: { from: 'rollout', next: 'Nothing: it is over.' },
  no_eligible_targets: { from: 'rollout', next: 'See for each node why it was left out (hoodctl rollout nodes).' },
  rollback_completed: { from: 'rollout', next: 'Nothing: it is over.' },
  rollback_incomplete: {
    from: 'rollout',
    next: 'See which nodes failed (hoodctl rollout nodes), and roll back again.',
  },
  // strategy and batches
  batch_waits: { from: 'batches', next: NOTHING },
  batch_started: { from: 'batches', next: NOTHING },
  start_offered: { from: 'batches', next: 'Nothing; if it lasts, see that a worker runs.' },
  rollback_turn: { from: 'batches', next: NOTHING },
  canary_observation: { from: 'batches', next: NOTHING },
  waiting_for_approval: { from: 'batches', next: 'Look at the canaries, then approve (hoodctl rollout approve).' },
  second_person_needed: { from: 'batches', next: 'Ask a colleague to approve it with a key of their own.' },
  canary_failed: { from: 'batches', next: CANARY },
  canary_not_proven: { from: 'batches', next: CANARY },
  canary_unhealthy: { from: 'batches', next: CANARY },
  // gates
  max_in_flight_reached: { from: 'gate', next: NOTHING },
  quorum_at_risk: {
    from: 'gate',
    next: 'Nothing when they are being upgraded; else mend them, or set the quorum guard aside for this rollout.',
  },
  voting_power_unknown: {
    from: 'gate',
    next: 'See that the metrics of these nodes can be read, or give their power by hand (label voting_power).',
  },
  disruption_budget_reached: {
    from: 'gate',
    next: 'Nothing when they are being upgraded; else mend them, or set the budget aside for this rollout.',
  },
  agent_offline: { from: 'gate', next: LOOK_AT_HOST },
  node_busy: { from: 'gate', next: 'Wait for that rollout, or see why it waits (hoodctl rollout status).' },
  node_held: {
    from: 'gate',
    next: 'Ask whoever holds it, then release it (hoodctl node release) or set the hold aside for this rollout.',
  },
  on_duty: { from: 'gate', next: NOTHING },
  duty_unknown: {
    from: 'gate',
    next: 'See that the node reports that metric, or set the duty aside for this rollout.',
  },
  node_quarantined: { from: 'gate', next: 'Stop the copy of the host, then join the real one again.' },
  frozen: {
    from: 'gate',
    next: 'Nothing: it goes on by itself. An emergency crosses it with two people (hoodctl rollout override).',
  },
  outside_window: {
    from: 'gate',
    next: 'Nothing: it goes on by itself. A person may set the window aside (hoodctl rollout override).',
  },
  waiting_for_start_time: {
    from: 'gate',
    next: 'Nothing: it goes on by itself. A person may set the time aside (hoodctl rollout override).',
  },
  waiting_for_height: { from: 'gate', next: NOTHING },
  staging_nodes: { from: 'gate', next: 'Nothing; which nodes are not ready and why: hoodctl rollout nodes.' },
  armed_for_height: { from: 'gate', next: 'Nothing; a pause or a cancel before the height disarms them.' },
  chain_height_unknown: {
    from: 'gate',
    next: "See that the chain's height expression and a node's metrics can be read.",
  },
  release_too_young: {
    from: 'gate',
    next: 'Nothing: it goes on by itself. When it can not wait, two people set trust/cooldown aside for this rollout.',
  },
  origin_not_allowed: {
    from: 'gate',
    next: "Find out who named that address; then mend the manifest or the chain's trust.allowed_origins.",
  },
  manifest_signer_untrusted: {
    from: 'gate',
    next: 'Cancel it, have the manifest signed by a key of HOODCLOUD_MANIFEST_KEYS, and create it again.',
  },
  start_approval_needed: {
    from: 'gate',
    next: 'Ask a colleague to look at it and approve it with a key of their own (hoodctl rollout approve).',
  },
  signature_demanded: { from: 'gate', next: 'Cancel it, name the signature in the manifest, and create it again.' },
  chain_halted: { from: 'gate', next: 'Find out why the chain stands; force goes on all the same.' },
  // limits
  failure_threshold_exceeded: { from: 'limit', next: JUDGE },
  failure_class_limit: { from: 'limit', next: JUDGE },
  max_failures_exceeded: { from: 'limit', next: JUDGE },
  // the command
  command_being_made: { from: 'command', next: 'Nothing; if it lasts, see that a worker runs.' },
  command_undelivered: { from: 'command', next: LOOK_AT_HOST },
  command_unacknowledged: { from: 'command', next: LOOK_AT_HOST },
  command_begins: { from: 'command', next: NOTHING },
  agent_step: { from: 'command', next: 'Nothing; if it takes much longer than usual, look at the host.' },
  agent_silent: { from: 'command', next: LOOK_AT_HOST },
  result_arrived: { from: 'command', next: 'Nothing; if it lasts, see that worker and reconciler run.' },
  // the proof of health
  proof_begins: { from: 'proof', next: 'Nothing; if it lasts, see that a reconciler runs.' },
  health_window: { from: 'proof', next: NOTHING },
  not_stable_yet: { from: 'proof', next: NOTHING },
  no_fresh_heartbeat: { from: 'proof', next: LOOK_AT_HOST },
  heartbeats_stopped: { from: 'proof', next: LOOK_AT_HOST },
  wrong_version_running: { from: 'proof', next: LOOK_AT_NODE },
  application_critical: { from: 'proof', next: LOOK_AT_NODE },
  application_unknown: { from: 'proof', next: "See that the node's metrics can be read from its host." },
  sync_stalled: { from: 'proof', next: LOOK_AT_NODE },
  sync_unknown: { from: 'proof', next: "See that the node's metrics can be read from its host." },
  node_down: { from: 'proof', next: LOOK_AT_NODE },
  crash_loop: { from: 'proof', next: LOOK_AT_NODE },
  no_main_process: { from: 'proof', next: LOOK_AT_NODE },
  not_ready: { from: 'proof', next: LOOK_AT_NODE },
  health_passed: { from: 'proof', next: NOTHING },
  // left out
  already_at_target: { from: 'targets', next: 'Nothing: it has the version.' },
  node_ineligible: { from: 'targets', next: LEFT_OUT },
  node_type_mismatch: { from: 'targets', next: LEFT_OUT },
  binary_missing: { from: 'targets', next: LEFT_OUT },
  runtime_mismatch: {
    from: 'targets',
    next: 'Make host and chain profile agree, then upgrade it with another rollout.',
  },
  no_artifact_for_platform: { from: 'targets', next: 'Add an artifact for the platform to the manifest.' },
  node_pinned: { from: 'targets', next: 'Ask whoever pinned it, then release it (hoodctl node release).' },
  never_joined: { from: 'targets', next: 'Install the agent on its host and join it (hoodctl node join-token).' },
  earlier_component_failed: { from: 'targets', next: COMPONENT },
  failed_this_version: {
    from: 'targets',
    next: 'See there why it failed; once that is mended, create a rollout with retry_failed (--retry-failed).',
  },
  // ended
  attempt_ended: { from: 'end', next: 'Nothing: it is over.' },
  left_stopped: { from: 'end', next: 'Start the node yourself when it should run.' },
  validation_skipped: { from: 'end', next: 'See for yourself that it is well.' },
  upgrade_rolled_back: { from: 'end', next: READ_LOG },
  upgrade_untouched: { from: 'end', next: READ_LOG },
  upgrade_refused: { from: 'end', next: 'Mend what the agent refused, then retry it.' },
  health_failed: { from: 'end', next: READ_LOG },
  failed_rollback: { from: 'end', next: 'Go to the host and follow the incident (hoodctl incident list).' },
  agent_unreachable: { from: 'end', next: LOOK_AT_HOST },
  superseded: { from: 'end', next: 'Nothing: the newer attempt counts.' },
  not_in_rollout: { from: 'end', next: 'Nothing: plan a rollout when it should change.' },
  // the group
  component_running: { from: 'group', next: COMPONENT },
  component_gate: { from: 'group', next: 'Look at those nodes; the next component begins when they are well.' },
  component_unhealthy: { from: 'group', next: 'Mend those nodes, then resume or skip the component, or roll back.' },
  component_failed: { from: 'group', next: 'Skip the component, or roll the group back.' },
  component_paused: { from: 'group', next: 'Settle what paused it, then resume the group.' },
  component_pausing: { from: 'group', next: NOTHING },
  component_resuming: { from: 'group', next: NOTHING },
  component_canceling: { from: 'group', next: NOTHING },
  component_skipping: { from: 'group', next: NOTHING },
  component_rolling_back: { from: 'group', next: COMPONENT },
  all_components_ended: { from: 'group', next: 'Nothing: it is over.' },
  all_components_skipped: { from: 'group', next: 'Nothing: it is over.' },
  group_rolled_back: { from: 'group', next: 'Nothing: it is over.' },
  group_rollback_incomplete: { from: 'group', next: COMPONENT },
} as const satisfies Readonly<Partial<Record<ReasonCode, WaitingReason>>>;

export type WaitingReasonCode = keyof typeof WAITING_REASONS;

/** Reasons that are told in the history alone: what stands afterwards has another one. */
export const HISTORY_ONLY: Readonly<Record<Exclude<ReasonCode, WaitingReasonCode>, string>> = {
  started_by_group: 'a component waits for its start no moment longer',
  agent_completed: 'its proof of health begins at once',
  height_passed_idle: 'told by its incident; what holds the rollout has a reason of its own',
  picked_up_late: 'what its batch and its gates wait for has reasons of its own',
  maintenance_released: 'of the state of a node',
  health_observed: 'of the state of a node',
  component_not_running: 'of the state of a node',
};

/** What to do about a reason; null when the code is of a newer server, or only ever history. */
export function nextStepOf(code: string): string | null {
  return Object.hasOwn(WAITING_REASONS, code) ? WAITING_REASONS[code as WaitingReasonCode].next : null;
}

/** Whether the reason can be an answer. */
export function isWaitingReason(code: string): code is WaitingReasonCode {
  return Object.hasOwn(REASONS, code) && Object.hasOwn(WAITING_REASONS, code);
}

/** Whether the reason is of a start gate that stops the whole rollout. */
export function stopsAllNodes(code: ReasonCode): boolean {
  return code === 'chain_halted';
}

/** Whether the reason is of a start gate that holds single nodes back, and lets the others go. */
export function holdsSomeNodes(code: ReasonCode): boolean {
  const waiting: Partial<Record<ReasonCode, WaitingReason>> = WAITING_REASONS;
  return waiting[code]?.from === 'gate' && !stopsAllNodes(code);
}
