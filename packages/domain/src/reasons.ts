/** How much a reason matters to the one who reads it. */
export type ReasonSeverity = 'info' | 'warning' | 'critical';

interface ReasonDefinition {
  readonly severity: ReasonSeverity;
  /** One sentence for people; `{name}` is filled from the reason's parameters. */
  readonly sentence: string;
}

/** The closed list of reasons (C11): why something waits, stops, is skipped, fails or changed its status. */
export const REASONS = {
  // a person ordered it
  started_by_operator: { severity: 'info', sentence: 'Started by {actor}.' },
  paused_by_operator: { severity: 'info', sentence: 'Paused by {actor}: {why}' },
  resumed_by_operator: { severity: 'info', sentence: 'Resumed by {actor}.' },
  canceled_by_operator: { severity: 'warning', sentence: 'Canceled by {actor}: {why}' },
  rollback_by_operator: { severity: 'warning', sentence: 'Rollback ordered by {actor}: {why}' },
  skipped_by_operator: { severity: 'info', sentence: 'Left out by {actor}: {why}' },
  retry_by_operator: { severity: 'info', sentence: 'Attempt {attempt} ordered by {actor}.' },
  // waiting
  not_started: { severity: 'info', sentence: 'Waiting for its start.' },
  targets_unresolved: { severity: 'info', sentence: 'The nodes of the rollout are being chosen.' },
  nodes_in_flight: { severity: 'info', sentence: 'Being upgraded: {count nodes} (batch {batch}).' },
  nodes_offered: { severity: 'info', sentence: 'About to start: {count nodes}.' },
  pausing: { severity: 'info', sentence: 'Pausing: {count nodes} in flight will end first.' },
  canceling: { severity: 'info', sentence: 'Canceling: {count nodes} in flight will end first.' },
  rollback_draining: { severity: 'info', sentence: 'Rollback begins after {count nodes} in flight.' },
  canary_observation: { severity: 'info', sentence: 'The canaries are watched until {until}.' },
  waiting_for_approval: {
    severity: 'warning',
    sentence: 'Breaking migration: an operator must approve the canary batch.',
  },
  second_person_needed: {
    severity: 'warning',
    sentence: 'Two persons are needed: {creator} created the rollout, so somebody else must approve it.',
  },
  // a group
  component_running: { severity: 'info', sentence: '{binary} is being upgraded, component {component} of {of}.' },
  started_by_group: { severity: 'info', sentence: 'Its turn in the group has come.' },
  component_gate: {
    severity: 'info',
    sentence:
      '{binary} is upgraded; the next component waits until its nodes are healthy: {node}. Given up at {until}.',
  },
  component_unhealthy: {
    severity: 'warning',
    sentence: '{binary} was upgraded, and after {seconds} s not all its nodes are healthy: {node}.',
  },
  component_failed: { severity: 'warning', sentence: '{binary} was not upgraded: {why}' },
  component_paused: { severity: 'warning', sentence: '{binary} is paused: {why}' },
  component_pausing: { severity: 'info', sentence: 'Pausing: nodes in flight of {binary} end first.' },
  component_resuming: { severity: 'info', sentence: '{binary} is being resumed.' },
  component_canceling: { severity: 'info', sentence: 'Canceling: nodes in flight of {binary} end first.' },
  component_skipping: { severity: 'info', sentence: '{binary} is being skipped: its nodes in flight end first.' },
  component_rolling_back: { severity: 'info', sentence: '{binary} goes back to its previous version.' },
  all_components_ended: {
    severity: 'info',
    sentence: '{completed} of {of components} upgraded, {skipped} skipped.',
  },
  all_components_skipped: { severity: 'warning', sentence: 'Every component was skipped: nothing was upgraded.' },
  group_rolled_back: { severity: 'info', sentence: 'Every component is back on its previous version. {why}' },
  group_rollback_incomplete: {
    severity: 'critical',
    sentence: '{binary} is not back everywhere, so the components before it were left as they are: {why}',
  },
  earlier_component_failed: {
    severity: 'warning',
    sentence: '{binary} failed on this node, so no later component of the group changes it.',
  },
  // start gates
  max_in_flight_reached: { severity: 'info', sentence: 'In flight: {count} of at most {limit nodes}.' },
  agent_offline: { severity: 'warning', sentence: 'The agent of {node} is offline since {since}.' },
  node_busy: { severity: 'info', sentence: '{node} is being changed by rollout {rollout}.' },
  node_quarantined: { severity: 'critical', sentence: 'Two hosts claim to be {node}: it is quarantined.' },
  chain_halted: {
    severity: 'critical',
    sentence: 'The chain stands at height {height} since {since}; no further node is stopped.',
  },
  // pauses and ends
  failure_threshold_exceeded: {
    severity: 'warning',
    sentence: '{failed} of {attempted nodes} failed, more than the threshold of {threshold}.',
  },
  max_failures_exceeded: {
    severity: 'warning',
    sentence: '{failed nodes} failed, and at most {limit} may.',
  },
  canary_failed: { severity: 'warning', sentence: 'A canary failed: {node}.' },
  canary_not_proven: { severity: 'warning', sentence: 'No canary was upgraded, so nothing is proven.' },
  canary_unhealthy: { severity: 'warning', sentence: 'A canary is not healthy after its upgrade: {node} is {state}.' },
  all_nodes_ended: {
    severity: 'info',
    sentence: 'All nodes have ended: {succeeded} succeeded, {failed} failed, {skipped} skipped.',
  },
  no_eligible_targets: { severity: 'warning', sentence: 'No node can be upgraded.' },
  rollback_completed: { severity: 'info', sentence: 'Back on the previous version: {count nodes}.' },
  rollback_incomplete: { severity: 'critical', sentence: 'Not rolled back: {count nodes}.' },
  internal_error: { severity: 'critical', sentence: 'The control plane failed: {error}' },
  // a node
  batch_started: { severity: 'info', sentence: 'Its turn has come (batch {batch}).' },
  agent_completed: { severity: 'info', sentence: 'The agent has installed and started {version}.' },
  health_passed: { severity: 'info', sentence: 'Proved healthy.' },
  left_stopped: {
    severity: 'warning',
    sentence: 'The node was stopped before, so it was upgraded and left stopped; nothing is validated.',
  },
  validation_skipped: { severity: 'warning', sentence: 'Health was not validated (skip_validation).' },
  already_at_target: { severity: 'info', sentence: 'It runs the target already.' },
  node_ineligible: { severity: 'info', sentence: 'The node is {state}.' },
  node_type_mismatch: { severity: 'info', sentence: 'The node is of type {actual}, the rollout is for {wanted}.' },
  binary_missing: { severity: 'info', sentence: 'The node has no component {binary}.' },
  runtime_mismatch: {
    severity: 'warning',
    sentence: 'The host runs {binary} under {actual}, the chain says {wanted}.',
  },
  no_artifact_for_platform: {
    severity: 'warning',
    sentence: 'The node runs on {platform}, and the upgrade has artifacts for {known} only.',
  },
  never_joined: { severity: 'info', sentence: 'No agent has joined for this node yet.' },
  upgrade_rolled_back: { severity: 'warning', sentence: 'The upgrade failed and was undone: {error}' },
  upgrade_untouched: {
    severity: 'warning',
    sentence: 'The upgrade failed before the node was touched, so it went on as it was: {error}',
  },
  upgrade_refused: { severity: 'warning', sentence: 'The agent refused: {error}' },
  health_failed: { severity: 'warning', sentence: 'Health was not proved: {error}' },
  failed_rollback: { severity: 'critical', sentence: 'The upgrade failed and could not be undone: {error}' },
  maintenance_released: { severity: 'info', sentence: 'Its attempt is over, so its maintenance ends.' },
  agent_unreachable: { severity: 'critical', sentence: 'The agent did not answer before the deadline.' },
  superseded: { severity: 'info', sentence: 'A newer attempt or rollout took its place.' },
  // health criteria
  no_fresh_heartbeat: { severity: 'warning', sentence: 'No heartbeat since the command ended.' },
  wrong_version_running: { severity: 'warning', sentence: 'The running executable is {actual}, not {expected}.' },
  application_critical: { severity: 'warning', sentence: 'application_health is critical.' },
  sync_stalled: { severity: 'warning', sentence: 'sync_status is stalled at height {height}.' },
  node_down: { severity: 'warning', sentence: 'The node is {state}.' },
  crash_loop: { severity: 'warning', sentence: '{restarts restarts} since the upgrade.' },
  no_main_process: { severity: 'warning', sentence: 'No main process for {seconds} s.' },
  heartbeats_stopped: { severity: 'warning', sentence: 'The last heartbeat is {seconds} s old.' },
  application_unknown: { severity: 'warning', sentence: 'application_health is unknown: its metrics are missing.' },
  sync_unknown: { severity: 'warning', sentence: 'sync_status is unknown: its metrics are missing.' },
  not_stable_yet: { severity: 'info', sentence: 'The process has shown life for {seconds} s of {wanted} s.' },
  health_window: { severity: 'info', sentence: 'Health is watched until {until}.' },
  health_observed: {
    severity: 'info',
    sentence: 'Its heartbeats show application_health {application_health} and sync_status {sync_status}.',
  },
  component_not_running: { severity: 'warning', sentence: 'A component of {node} does not run.' },
  not_ready: { severity: 'warning', sentence: 'ready_expression does not hold.' },
} as const satisfies Readonly<Record<string, ReasonDefinition>>;

export type ReasonCode = keyof typeof REASONS;

/** A reason names at most so many nodes: it is stored with every answer, and 10,000 may be in flight (C7). */
export const MAX_NAMED_NODES = 50;

/** A reason with what fills its sentence. */
export interface Reason {
  readonly code: ReasonCode;
  readonly params: Readonly<Record<string, string | number>>;
  /** Node ids the reason is about, when it is about some of many; the first `MAX_NAMED_NODES` of them. */
  readonly nodeIds?: readonly string[];
}

/** Makes a reason; parameters fill the `{names}` of its sentence. */
export function reason(code: ReasonCode, params: Reason['params'] = {}, nodeIds?: readonly string[]): Reason {
  return nodeIds ? { code, params, nodeIds: nodeIds.slice(0, MAX_NAMED_NODES) } : { code, params };
}

/**
 * The sentence that people read. `{name}` is a parameter, `{name nodes}` a count with its noun ("1 node", "2 nodes"); one
 * that is missing shows as `?`.
 */
export function sentenceOf({ code, params }: Pick<Reason, 'code' | 'params'>): string {
  return REASONS[code].sentence.replace(/\{(\w+)(?: (\w+)s)?\}/g, (_, name: string, noun?: string) => {
    const value = params[name] ?? '?';
    if (noun === undefined) return String(value);
    return `${value} ${noun}${value === 1 ? '' : 's'}`;
  });
}
