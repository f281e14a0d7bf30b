import type { EventKind } from './event-kinds.ts';

/**
 * Where each kind of event is published in NATS. The specification's six subjects stand as it has them ("NATS Event
 * Subjects"); every other kind has a subject of the same form, so that a subscriber can hear everything the outbox has.
 */
export const EVENT_SUBJECTS = {
  rollout_created: 'events.rollout.{rolloutID}.created',
  rollout_started: 'events.rollout.{rolloutID}.started',
  rollout_resumed: 'events.rollout.{rolloutID}.resumed',
  rollout_paused: 'events.rollout.{rolloutID}.paused',
  rollout_waiting_for_approval: 'events.rollout.{rolloutID}.waiting_for_approval',
  rollout_completed: 'events.rollout.{rolloutID}.completed',
  rollout_failed: 'events.rollout.{rolloutID}.failed',
  rollout_canceled: 'events.rollout.{rolloutID}.canceled',
  rollback_initiated: 'events.rollout.{rolloutID}.rollback_initiated',
  rollback_completed: 'events.rollout.{rolloutID}.rollback_completed',
  rollout_progress: 'events.rollout.{rolloutID}.progress',
  rollout_control_ordered: 'events.rollout.{rolloutID}.control_ordered',
  rollout_plan_saved: 'events.rollout_plan.{planID}.saved',
  rollout_plan_started: 'events.rollout_plan.{planID}.started',
  group_created: 'events.rollout_group.{groupID}.created',
  group_started: 'events.rollout_group.{groupID}.started',
  group_resumed: 'events.rollout_group.{groupID}.resumed',
  group_paused: 'events.rollout_group.{groupID}.paused',
  group_completed: 'events.rollout_group.{groupID}.completed',
  group_partial: 'events.rollout_group.{groupID}.partial',
  group_failed: 'events.rollout_group.{groupID}.failed',
  group_canceled: 'events.rollout_group.{groupID}.canceled',
  group_rollback_initiated: 'events.rollout_group.{groupID}.rollback_initiated',
  group_rolled_back: 'events.rollout_group.{groupID}.rolled_back',
  group_control_ordered: 'events.rollout_group.{groupID}.control_ordered',
  node_upgrade_started: 'events.node.{nodeID}.upgrade_started',
  node_upgrade_phase_changed: 'events.node.{nodeID}.upgrade_phase_changed',
  node_upgrade_completed: 'events.node.{nodeID}.upgrade_completed',
  node_upgrade_skipped: 'events.node.{nodeID}.upgrade_skipped',
  node_upgrade_picked_up: 'events.node.{nodeID}.upgrade_picked_up',
  node_state_changed: 'events.node.{nodeID}.state_changed',
  node_added: 'events.node.{nodeID}.added',
  join_token_issued: 'events.node.{nodeID}.join_token_issued',
  node_joined: 'events.node.{nodeID}.joined',
  node_version_named: 'events.node.{nodeID}.version_named',
  node_quarantined: 'events.node.{nodeID}.quarantined',
  node_held: 'events.node.{nodeID}.held',
  node_pinned: 'events.node.{nodeID}.pinned',
  node_released: 'events.node.{nodeID}.released',
  config_drift_overwritten: 'events.node.{nodeID}.config_drift_overwritten',
  incident_opened: 'events.incident.{incidentID}.opened',
  incident_acknowledged: 'events.incident.{incidentID}.acknowledged',
  incident_resolved: 'events.incident.{incidentID}.resolved',
  api_key_created: 'events.api_key.{apiKeyID}.created',
  api_key_revoked: 'events.api_key.{apiKeyID}.revoked',
  scope_granted: 'events.scope_grant.{grantID}.granted',
  scope_revoked: 'events.scope_grant.{grantID}.revoked',
  policy_created: 'events.policy.{policyID}.created',
  policy_changed: 'events.policy.{policyID}.changed',
  policy_deleted: 'events.policy.{policyID}.deleted',
  rule_overridden: 'events.rollout.{rolloutID}.rule_overridden',
} as const satisfies Readonly<Record<EventKind, `events.${string}.{${string}}.${string}`>>;

/** What a stream must listen to in order to keep every event. */
export const STREAM_SUBJECTS = [
  ...new Set(Object.values(EVENT_SUBJECTS).map((subject) => `${subject.split('.').slice(0, 2).join('.')}.>`)),
];

/** The subject of one event: its kind's, with the id of what it is about. */
export function subjectOf(kind: EventKind, subjectId: string): string {
  return EVENT_SUBJECTS[kind].replace(/\{\w+\}/, subjectId);
}
