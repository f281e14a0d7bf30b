/** What an event can tell (closed list; spec "Notification Events", "NATS Event Subjects", C11). */
export const EVENT_KINDS = [
  'rollout_created',
  'rollout_started',
  'rollout_resumed',
  'rollout_paused',
  'rollout_waiting_for_approval',
  'rollout_completed',
  'rollout_failed',
  'rollout_canceled',
  'rollback_initiated',
  'rollback_completed',
  'rollout_progress',
  'rollout_control_ordered',
  'rollout_plan_saved',
  'rollout_plan_started',
  'group_created',
  'group_started',
  'group_resumed',
  'group_paused',
  'group_completed',
  'group_partial',
  'group_failed',
  'group_canceled',
  'group_rollback_initiated',
  'group_rolled_back',
  'group_control_ordered',
  'node_upgrade_started',
  'node_upgrade_phase_changed',
  'node_upgrade_completed',
  'node_upgrade_skipped',
  'node_upgrade_picked_up',
  'node_state_changed',
  'node_added',
  'join_token_issued',
  'node_joined',
  'node_version_named',
  'node_quarantined',
  'node_held',
  'node_pinned',
  'node_released',
  'config_drift_overwritten',
  'incident_opened',
  'incident_acknowledged',
  'incident_resolved',
  'api_key_created',
  'api_key_revoked',
  'scope_granted',
  'scope_revoked',
  'policy_created',
  'policy_changed',
  'policy_deleted',
  'rule_overridden',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/**
 * What a channel tells when its configuration names nothing else: the specification's six "Notification Events", a rollout
 * that waits for a person, and critical incidents.
 */
export const NOTIFICATION_EVENTS = [
  'rollout_started',
  'rollout_completed',
  'rollout_paused',
  'rollout_failed',
  'rollback_initiated',
  'rollback_completed',
  'rollout_waiting_for_approval',
  'incident_opened',
] as const satisfies readonly EventKind[];

/** What an event is about. */
export const SUBJECT_TYPES = [
  'rollout',
  'rollout_group',
  'rollout_plan',
  'node',
  'incident',
  'api_key',
  'scope_grant',
  'policy',
] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];
