// Generated from the migrated database by `npm run generate`; do not edit.
import type { Generated, GeneratedAlways } from 'kysely';

export interface ActiveChainsTable {
  chain_profile_id: string;
  owner_type: 'rollout' | 'rollout_group';
  owner_id: string;
  since: Generated<Date>;
}

export interface AgentCommandsTable {
  id: Generated<string>;
  node_id: string;
  rollout_id: string;
  rollout_node_id: string;
  attempt_id: string;
  operation: 'UPGRADE' | 'COMPENSATE' | 'CONFIRM' | 'STAGE' | 'UNSTAGE';
  payload: Buffer;
  status: Generated<'pending' | 'delivered' | 'acknowledged' | 'completed' | 'failed' | 'expired' | 'superseded'>;
  workflow_id: string;
  created_at: Generated<Date>;
  deadline_at: Date;
  delivered_at: Date | null;
  delivered_session_id: string | null;
  deliveries: Generated<number>;
  acknowledged_at: Date | null;
  ended_at: Date | null;
  outcome: 'completed' | 'rolled_back' | 'failed_rollback' | 'refused' | null;
  result: unknown;
  late_result: unknown;
  action_index: number | null;
  action_name: string | null;
  progress_pct: number | null;
  progress_note: string | null;
  progress_at: Date | null;
  heartbeat_forwarded_at: Date | null;
  result_taken_at: Date | null;
  action_since: Date | null;
}

export interface AgentCredentialsTable {
  id: Generated<string>;
  node_id: string;
  secret_hash: Buffer;
  created_at: Generated<Date>;
  revoked_at: Date | null;
}

export interface AgentSessionsTable {
  id: Generated<string>;
  node_id: string;
  gateway_id: string;
  instance_nonce: string;
  boot_id: string;
  agent_version: string;
  hostname: string;
  os: string;
  arch: string;
  connected_at: Generated<Date>;
  ended_at: Date | null;
  end_reason: string | null;
}

export interface ApiKeysTable {
  id: Generated<string>;
  name: string;
  secret_hash: Buffer;
  scopes: string[];
  created_by: string;
  created_at: Generated<Date>;
  last_used_at: Date | null;
  revoked_at: Date | null;
}

export interface ChainHeightsTable {
  chain_profile_id: string;
  best_height: number;
  grew_at: Date;
  block_interval_ms: number | null;
}

export interface EngineMessagesTable {
  id: GeneratedAlways<number>;
  workflow_type: 'RolloutWorkflow' | 'UpgradeNodeWorkflow' | 'RolloutGroupWorkflow';
  workflow_id: string;
  signal: string | null;
  activity_id: string | null;
  created_at: Generated<Date>;
  attempts: Generated<number>;
  next_attempt_at: Generated<Date>;
  last_error: string | null;
}

export interface EventCursorsTable {
  consumer: string;
  last_seq: Generated<number>;
  updated_at: Generated<Date>;
}

export interface EventsTable {
  id: GeneratedAlways<number>;
  subject_type: 'rollout' | 'rollout_group' | 'rollout_plan' | 'node' | 'incident' | 'api_key' | 'scope_grant' | 'policy';
  subject_id: string;
  rollout_id: string | null;
  node_id: string | null;
  kind: string;
  reason: string | null;
  reason_params: Generated<unknown>;
  severity: Generated<'info' | 'warning' | 'critical'>;
  actor: string;
  data: Generated<unknown>;
  occurred_at: Generated<Date>;
  published_seq: number | null;
}

export interface HealthValidationsTable {
  id: Generated<string>;
  node_id: string;
  rollout_id: string;
  rollout_node_id: string;
  attempt_id: string;
  binary_name: string;
  expected_checksum: string;
  health_wait_ms: number;
  workflow_id: string;
  since: Date;
  status: Generated<'open' | 'passed' | 'failed'>;
  reasons: Generated<unknown>;
  created_at: Generated<Date>;
  ended_at: Date | null;
  result_taken_at: Date | null;
}

export interface IdempotencyKeysTable {
  key: string;
  actor: string;
  request_hash: string;
  response_status: number;
  response_body: unknown;
  created_at: Generated<Date>;
}

export interface IncidentsTable {
  id: Generated<string>;
  category: 'upgrade_failed' | 'upgrade_rollback_failed' | 'upgrade_stalled' | 'identity_cloned' | 'height_passed';
  severity: 'info' | 'warning' | 'critical';
  status: Generated<'open' | 'acknowledged' | 'resolved'>;
  node_id: string | null;
  rollout_id: string | null;
  dedupe_key: string;
  summary: string;
  recovery_plan: string | null;
  details: Generated<unknown>;
  created_at: Generated<Date>;
  acknowledged_at: Date | null;
  acknowledged_by: string | null;
  resolved_at: Date | null;
  resolved_by: string | null;
}

export interface JoinTokensTable {
  id: Generated<string>;
  node_id: string;
  token_hash: Buffer;
  created_by: string;
  created_at: Generated<Date>;
  expires_at: Date;
  used_at: Date | null;
}

export interface NodeComponentsTable {
  node_id: string;
  binary_name: string;
  runtime_type: 'systemd' | 'docker' | 'process';
  artifact_kind: 'file' | 'image';
  active: boolean;
  main_pid: number | null;
  main_pid_started_at: number | null;
  restarts: Generated<number>;
  running_checksum: string | null;
  installed_checksum: string | null;
  reported_version: string | null;
  config_checksums: Generated<unknown>;
  updated_at: Generated<Date>;
}

export interface NodeConfigStateTable {
  node_id: string;
  binary_name: string;
  binary_version: string | null;
  binary_url: string | null;
  binary_checksum: string | null;
  installed_checksum: string | null;
  version_source: Generated<'unknown' | 'manifest' | 'profile' | 'rollout' | 'operator'>;
  config_hashes: Generated<unknown>;
  updated_at: Generated<Date>;
  artifact_member: string | null;
}

export interface NodeHeartbeatsTable {
  id: GeneratedAlways<number>;
  node_id: string;
  session_id: string;
  received_at: Generated<Date>;
  components: unknown;
  judged: Generated<unknown>;
}

export interface NodeHoldsTable {
  node_id: string;
  kind: 'hold' | 'pin';
  binary_name: Generated<string>;
  version: string | null;
  actor: string;
  reason: string;
  created_at: Generated<Date>;
  expires_at: Date | null;
}

export interface NodesTable {
  id: Generated<string>;
  name: string;
  chain_profile_id: string;
  node_type: string;
  labels: Generated<unknown>;
  variables: Generated<unknown>;
  state: Generated<'provisioning' | 'syncing' | 'healthy' | 'degraded' | 'down' | 'maintenance' | 'terminating' | 'terminated' | 'failed'>;
  prior_state: string | null;
  maintenance_owner: string | null;
  application_health: Generated<'ok' | 'degraded' | 'critical' | 'unknown'>;
  sync_status: Generated<'synced' | 'syncing' | 'stalled' | 'unknown'>;
  height: number | null;
  height_grew_at: Date | null;
  last_heartbeat_at: Date | null;
  clock_skew_ms: number | null;
  joined_at: Date | null;
  quarantined_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  platform: string | null;
  voting_power: number | null;
  chain_power: number | null;
  voting_power_at: Date | null;
}

export interface NotificationChannelsTable {
  name: string;
  type: string;
  filter: unknown;
  configured: Generated<boolean>;
  attempts: Generated<number>;
  next_attempt_at: Generated<Date>;
  failing_since: Date | null;
  last_error: string | null;
  last_delivered_at: Date | null;
  window_started_at: Generated<Date>;
  sent_in_window: Generated<number>;
}

export interface NotificationDeliveriesTable {
  id: Generated<string>;
  channel: string;
  event_seq: number | null;
  status: 'due' | 'delivered' | 'dead';
  attempts: Generated<number>;
  last_error: string | null;
  ordered_by: string | null;
  created_at: Generated<Date>;
  ended_at: Date | null;
}

export interface PoliciesTable {
  id: Generated<string>;
  kind: 'disruption_budget' | 'maintenance_window' | 'freeze';
  name: string;
  spec: unknown;
  revision: Generated<number>;
  created_by: string;
  created_at: Generated<Date>;
  updated_by: string;
  updated_at: Generated<Date>;
  managed_by: string | null;
}

export interface RolloutControlsTable {
  id: Generated<string>;
  rollout_id: string;
  kind: 'start' | 'pause' | 'resume' | 'cancel' | 'force' | 'approve_canary' | 'rollback' | 'retry' | 'skip';
  node_id: string | null;
  actor: string;
  reason: string | null;
  failures_acknowledged: number | null;
  seq: GeneratedAlways<number>;
  created_at: Generated<Date>;
}

export interface RolloutGroupControlsTable {
  id: Generated<string>;
  group_id: string;
  kind: 'start' | 'pause' | 'resume' | 'cancel' | 'rollback' | 'skip';
  component_index: number | null;
  actor: string;
  reason: string | null;
  seq: GeneratedAlways<number>;
  created_at: Generated<Date>;
}

export interface RolloutGroupsTable {
  id: Generated<string>;
  chain_profile_id: string;
  status: Generated<'pending' | 'running' | 'paused' | 'completed' | 'failed' | 'canceled' | 'rolled_back' | 'partial'>;
  failure_policy: 'partial_ok' | 'rollback_all' | 'manual';
  component_order: unknown;
  desired_versions: unknown;
  strategy: 'rolling' | 'canary' | 'all_at_once';
  created_by: string;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  node_type: string;
  gate_timeout_ms: number;
  status_reason: string | null;
  status_reason_params: Generated<unknown>;
  status_changed_at: Generated<Date>;
  direction: Generated<'upgrade' | 'rollback'>;
  rollback_began_at: Date | null;
  last_decision: unknown;
  started_at: Date | null;
  ended_at: Date | null;
}

export interface RolloutNodesTable {
  id: Generated<string>;
  rollout_id: string;
  node_id: string;
  batch_index: number;
  status: Generated<'pending' | 'in_progress' | 'validating' | 'succeeded' | 'failed' | 'rolled_back' | 'skipped'>;
  status_reason: string | null;
  status_reason_params: Generated<unknown>;
  upgrade_phase: 'PREPARING' | 'STOPPED' | 'MUTATING' | 'STARTING' | 'VERIFYING' | 'COMPLETED' | 'ROLLBACKING' | 'ROLLED_BACK' | 'FAILED_ROLLBACK' | null;
  phase_changed_at: Date | null;
  previous_version: string | null;
  previous_binary_url: string | null;
  previous_checksum: string | null;
  previous_installed_checksum: string | null;
  previous_config_hashes: Generated<unknown>;
  error_message: string | null;
  attempt_count: Generated<number>;
  requested_attempt: Generated<number>;
  attempt_direction: Generated<'upgrade' | 'rollback'>;
  offered_at: Date | null;
  started_at: Date | null;
  ended_at: Date | null;
  duration_ms: number | null;
  downtime_ms: number | null;
  left_stopped: Generated<boolean>;
  installed_checksum: string | null;
  running_checksum: string | null;
  log_tail: Generated<unknown>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  previous_artifact_member: string | null;
  target_artifact: unknown;
  error_code: string | null;
  stage_goal: 'staged' | 'armed' | 'unstaged' | null;
  stage_state: 'staging' | 'staged' | 'armed' | 'activated' | 'not_ready' | 'unstaged' | null;
  stage_error: string | null;
  stage_command_id: string | null;
  stage_changed_at: Date | null;
  upgrade_outcome: 'succeeded' | 'failed' | null;
  upgrade_outcome_at: Date | null;
  late: Generated<boolean>;
}

export interface RolloutPlansTable {
  id: Generated<string>;
  chain_profile_id: string;
  request: unknown;
  plan: unknown;
  facts: unknown;
  rollout_id: string;
  saved_by: string;
  reason: string | null;
  created_at: Generated<Date>;
  expires_at: Date;
  started_by: string | null;
  started_at: Date | null;
}

export interface RolloutsTable {
  id: Generated<string>;
  group_id: string | null;
  component_index: Generated<number>;
  chain_profile_id: string;
  node_type: string;
  upgrade_id: string | null;
  binary_name: string;
  source_version: string | null;
  target_version: string;
  artifact_kind: 'file' | 'image';
  target_binary_url: string;
  target_binary_checksum: string;
  target_artifact_member: string | null;
  strategy: 'rolling' | 'canary' | 'all_at_once';
  batch_size: number;
  canary_size: Generated<number>;
  failure_threshold: Generated<number>;
  max_failures: number | null;
  min_attempted: Generated<number>;
  max_in_flight: number | null;
  health_wait_ms: number;
  force_continue: Generated<boolean>;
  skip_validation: Generated<boolean>;
  offline_policy: Generated<'skip' | 'wait'>;
  drift_policy: Generated<'fail' | 'overwrite'>;
  migration_type: Generated<'none' | 'compatible' | 'breaking'>;
  recovery_plan: string | null;
  acknowledge_state_risk: Generated<boolean>;
  config_changes: Generated<unknown>;
  manifest_content_hash: string;
  node_ids: string[] | null;
  status: Generated<'pending' | 'running' | 'paused' | 'completed' | 'failed' | 'canceled' | 'rolled_back'>;
  status_reason: string | null;
  status_reason_params: Generated<unknown>;
  status_changed_at: Generated<Date>;
  direction: Generated<'upgrade' | 'rollback'>;
  last_decision: unknown;
  total_nodes: Generated<number>;
  succeeded_nodes: Generated<number>;
  failed_nodes: Generated<number>;
  pending_nodes: Generated<number>;
  skipped_nodes: Generated<number>;
  targets_resolved_at: Date | null;
  created_by: string;
  created_at: Generated<Date>;
  started_at: Date | null;
  ended_at: Date | null;
  updated_at: Generated<Date>;
  link_policy: Generated<'follow' | 'replace'>;
  artifacts: unknown;
  target_artifact_signature: unknown;
  release_name: string | null;
  two_person_approval: Generated<boolean>;
  start_at_height: number | null;
  height_reached_at: Date | null;
  start_at: Date | null;
  windows: unknown;
  batch_order: unknown;
  failure_classes: unknown;
  stage: Generated<boolean>;
  name: string | null;
  released_at: Date | null;
  hooks: Generated<unknown>;
  activation: Generated<'rollout' | 'height' | 'plan'>;
  retry_failed: Generated<boolean>;
  start_approval: Generated<boolean>;
  manifest_key: string | null;
  late_nodes: Generated<'ignore' | 'include'>;
}

export interface RuleOverridesTable {
  id: Generated<string>;
  rollout_id: string;
  rule: string;
  actor: string;
  reason: string;
  created_at: Generated<Date>;
  expires_at: Date;
}

export interface ScopeGrantsTable {
  id: Generated<string>;
  subject: string;
  scope: 'read' | 'operate' | 'admin' | 'override';
  granted_by: string;
  reason: string | null;
  granted_at: Generated<Date>;
  revoked_at: Date | null;
  revoked_by: string | null;
}

export interface SeenArtifactsTable {
  checksum: string;
  first_seen_at: Generated<Date>;
}

export interface Tables {
  active_chains: ActiveChainsTable;
  agent_commands: AgentCommandsTable;
  agent_credentials: AgentCredentialsTable;
  agent_sessions: AgentSessionsTable;
  api_keys: ApiKeysTable;
  chain_heights: ChainHeightsTable;
  engine_messages: EngineMessagesTable;
  event_cursors: EventCursorsTable;
  events: EventsTable;
  health_validations: HealthValidationsTable;
  idempotency_keys: IdempotencyKeysTable;
  incidents: IncidentsTable;
  join_tokens: JoinTokensTable;
  node_components: NodeComponentsTable;
  node_config_state: NodeConfigStateTable;
  node_heartbeats: NodeHeartbeatsTable;
  node_holds: NodeHoldsTable;
  nodes: NodesTable;
  notification_channels: NotificationChannelsTable;
  notification_deliveries: NotificationDeliveriesTable;
  policies: PoliciesTable;
  rollout_controls: RolloutControlsTable;
  rollout_group_controls: RolloutGroupControlsTable;
  rollout_groups: RolloutGroupsTable;
  rollout_nodes: RolloutNodesTable;
  rollout_plans: RolloutPlansTable;
  rollouts: RolloutsTable;
  rule_overrides: RuleOverridesTable;
  scope_grants: ScopeGrantsTable;
  seen_artifacts: SeenArtifactsTable;
}
