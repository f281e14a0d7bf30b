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
  failed_this_version: {
    severity: 'warning',
    sentence:
      'Its upgrade to {version} failed at {at} in rollout {rollout}. It is offered again only by a rollout that retries failed nodes.',
  },
  picked_up_late: { severity: 'info', sentence: 'It {came} while the rollout ran, so it is taken after all others.' },
  // start gates
  max_in_flight_reached: { severity: 'info', sentence: 'In flight: {count} of at most {limit nodes}.' },
  agent_offline: { severity: 'warning', sentence: 'The agent of {node} is offline since {since}.' },
  quorum_at_risk: {
    severity: 'info',
    sentence:
      'With {node} down, {share} of the voting power of {chain} would be, and it must stay below {limit}. Down or about to be: {who}.',
  },
  voting_power_unknown: {
    severity: 'warning',
    sentence: 'Nobody knows the voting power of {who}, so stopping {node} may cost {chain} its quorum.',
  },
  disruption_budget_reached: {
    severity: 'info',
    sentence:
      'Disruption budget {budget}{where}: {limit} of {members nodes} may be unavailable{how}, and {down} are or are about to be: {who}.',
  },
  node_busy: { severity: 'info', sentence: '{node} is being changed by rollout {rollout}.' },
  node_held: { severity: 'info', sentence: '{node} is held by {actor} until {until}: {why}' },
  on_duty: { severity: 'info', sentence: '{node} is on duty ({duty}); {next}.' },
  duty_unknown: {
    severity: 'warning',
    sentence: '{node} may be on duty ({duty}): {what} not known, so it is not stopped.',
  },
  node_quarantined: { severity: 'critical', sentence: 'Two hosts claim to be {node}: it is quarantined.' },
  frozen: { severity: 'info', sentence: 'Frozen until {until} ({freeze}): {why}' },
  outside_window: { severity: 'info', sentence: 'Outside its window ({window}), which opens {opens}.' },
  waiting_for_start_time: { severity: 'info', sentence: 'Waits for its time: nothing starts before {at}.' },
  waiting_for_height: {
    severity: 'info',
    sentence: 'Waits for height {height}: the chain is at {best}, {left blocks} before it; {eta}.',
  },
  staging_nodes: {
    severity: 'info',
    sentence: 'Nodes make ready ahead: {ready} of {count nodes} are, {not_ready} can not yet.',
  },
  armed_for_height: {
    severity: 'info',
    sentence: 'The agents swap by themselves at height {height}: {armed} of {count nodes} are armed.',
  },
  chain_height_unknown: {
    severity: 'warning',
    sentence: "Waits for height {height}, and no node tells the chain's height.",
  },
  release_too_young: {
    severity: 'info',
    sentence:
      'The release was {known} at {since}, and its chain wants it {hours} h old: no node starts before {until}.',
  },
  origin_not_allowed: {
    severity: 'warning',
    sentence: 'No node starts: {url} is not from an origin that the chain allows.',
  },
  signature_demanded: {
    severity: 'warning',
    sentence: 'No node starts: the chain demands signatures by now, and {url} has none.',
  },
  manifest_signer_untrusted: {
    severity: 'warning',
    sentence: 'No node starts: its manifest must be signed by a key that counts by now, and {signer} had signed it.',
  },
  start_approval_needed: {
    severity: 'warning',
    sentence:
      'No node starts before a second person has approved: anybody with the scope operate may, but not {creator}, who created the rollout, nor who shares a key with them.',
  },
  chain_halted: {
    severity: 'critical',
    sentence: 'The chain stands at height {height} since {since}; no further node is stopped.',
  },
  // a node's turn
  batch_waits: {
    severity: 'info',
    sentence: 'Batch {batch} waits for {before}: {count nodes} in flight, {open} not begun.',
  },
  start_offered: { severity: 'info', sentence: 'About to start: attempt {attempt} was handed to a worker at {since}.' },
  rollback_turn: {
    severity: 'info',
    sentence: 'Goes back after {count nodes} under way: {size} at a time, the fastest first.',
  },
  not_in_rollout: { severity: 'info', sentence: 'Nothing waits: no rollout under way has {node}.' },
  attempt_ended: { severity: 'info', sentence: 'Nothing waits: the node is {status} in this rollout.' },
  // a node's command
  command_being_made: { severity: 'info', sentence: 'The node is checked before its command is sent (since {since}).' },
  command_undelivered: {
    severity: 'warning',
    sentence: 'The {operation} command waits since {since} for the agent of {node} to fetch it.',
  },
  command_unacknowledged: {
    severity: 'warning',
    sentence: 'The {operation} command was sent at {since}, and the agent of {node} has not acknowledged it.',
  },
  command_begins: {
    severity: 'info',
    sentence: 'The agent acknowledged the {operation} command at {since} and begins its first step.',
  },
  agent_step: { severity: 'info', sentence: 'The agent is at {action} since {since}{done}; {usual}.' },
  agent_silent: {
    severity: 'warning',
    sentence: 'The agent of {node} is silent since {since}; its command is given up at {until}.',
  },
  result_arrived: {
    severity: 'info',
    sentence: 'The agent has ended the {operation} command; its result is taken up.',
  },
  proof_begins: { severity: 'info', sentence: 'The new version runs; the proof of its health begins.' },
  // pauses and ends
  failure_threshold_exceeded: {
    severity: 'warning',
    sentence: '{failed} of {attempted nodes} failed, more than the threshold of {threshold}.',
  },
  failure_class_limit: {
    severity: 'critical',
    sentence: '{failed nodes} failed by {by}. This rollout bears {limit} of these.',
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
  height_passed_idle: {
    severity: 'critical',
    sentence: 'The chain reached height {height} at {since}, and no node of the rollout was begun: {why}',
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
  node_pinned: { severity: 'info', sentence: 'Pinned to {version} by {actor} until {until}: {why}' },
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
  not_ready: { severity: 'warning', sentence: 'ready_expression is {ready}.' },
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
