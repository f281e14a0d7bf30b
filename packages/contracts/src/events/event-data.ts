import { NODE_STATES } from '@hoodcloud/domain/node-state';
import { NODE_UPGRADE_STATUSES } from '@hoodcloud/domain/node-upgrade-status';
import { ROLLOUT_CONTROLS } from '@hoodcloud/domain/rollout-control';
import { ROLLOUT_GROUP_CONTROLS } from '@hoodcloud/domain/rollout-group-control';
import { FAILURE_POLICIES, ROLLOUT_GROUP_STATUSES } from '@hoodcloud/domain/rollout-group-status';
import { ROLLOUT_DIRECTIONS, ROLLOUT_STATUSES } from '@hoodcloud/domain/rollout-status';
import { ROLLOUT_STRATEGIES } from '@hoodcloud/domain/rollout-strategy-name';
import { UPGRADE_PHASES } from '@hoodcloud/domain/upgrade-phase';
import { z } from 'zod';
import { INCIDENT_CATEGORIES } from '../http/incidents.ts';
import { scopeSchema } from '../http/scopes.ts';
import type { EventKind } from './event-kinds.ts';

const count = z.number().int().nonnegative();
const phase = z.enum(UPGRADE_PHASES);
const nothing = z.object({});
/** What the person said; null when nothing. */
const why = z.string().nullable().optional();

const rolloutStatusChange = z.object({
  from: z.enum(ROLLOUT_STATUSES),
  to: z.enum(ROLLOUT_STATUSES),
  direction: z.enum(ROLLOUT_DIRECTIONS),
});
const groupStatusChange = z.object({
  from: z.enum(ROLLOUT_GROUP_STATUSES),
  to: z.enum(ROLLOUT_GROUP_STATUSES),
  direction: z.enum(ROLLOUT_DIRECTIONS),
});
const attempt = z.object({
  from: z.enum(NODE_UPGRADE_STATUSES),
  to: z.enum(NODE_UPGRADE_STATUSES),
  phase: phase.nullable(),
  attempt: count,
  direction: z.enum(ROLLOUT_DIRECTIONS),
});
/** A phase that agent or control plane entered; from the status `validating` on it is the node's status that changed. */
const phaseChange = z.object({
  from: z.union([phase, z.enum(NODE_UPGRADE_STATUSES)]).nullable(),
  to: z.union([phase, z.enum(NODE_UPGRADE_STATUSES)]),
  phase: phase.nullable(),
  command_id: z.string().optional(),
  action_name: z.string().optional(),
});

/** A policy as it was before and is now; null: there was none, or is none any more. */
const policy = z.object({
  kind: z.string(),
  name: z.string(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  managed_by: z.string().nullable(),
  reason: why,
});

/** `data` of each kind of event. Receivers must bear more fields than these (schema_version says when one changes). */
export const EVENT_DATA = {
  rollout_created: z.object({
    chain_profile_id: z.string(),
    target_version: z.string().nullable(),
    strategy: z.enum(ROLLOUT_STRATEGIES),
  }),
  rollout_started: rolloutStatusChange,
  rollout_resumed: rolloutStatusChange,
  rollout_paused: rolloutStatusChange,
  rollout_waiting_for_approval: nothing,
  rollout_completed: rolloutStatusChange,
  rollout_failed: rolloutStatusChange,
  rollout_canceled: rolloutStatusChange,
  rollback_initiated: rolloutStatusChange,
  rollback_completed: rolloutStatusChange,
  rollout_progress: z.object({
    total_nodes: count,
    succeeded_nodes: count,
    failed_nodes: count,
    pending_nodes: count,
    skipped_nodes: count,
  }),
  rollout_control_ordered: z.object({ control: z.enum(ROLLOUT_CONTROLS), reason: z.string().nullable().optional() }),
  rollout_plan_saved: z.object({ chain_profile_id: z.string(), target_version: z.string().nullable(), reason: why }),
  rollout_plan_started: z.object({ saved_by: z.string(), reason: why }),
  group_created: z.object({
    chain_profile_id: z.string(),
    failure_policy: z.enum(FAILURE_POLICIES),
    desired_versions: z.record(z.string(), z.string()),
  }),
  group_started: groupStatusChange,
  group_resumed: groupStatusChange,
  group_paused: groupStatusChange,
  group_completed: groupStatusChange,
  group_partial: groupStatusChange,
  group_failed: groupStatusChange,
  group_canceled: groupStatusChange,
  group_rollback_initiated: groupStatusChange,
  group_rolled_back: groupStatusChange,
  group_control_ordered: z.object({
    control: z.enum(ROLLOUT_GROUP_CONTROLS),
    component_index: z.number().int().nullable(),
    reason: z.string().nullable(),
  }),
  node_upgrade_started: attempt,
  node_upgrade_phase_changed: phaseChange,
  node_upgrade_completed: attempt,
  node_upgrade_skipped: attempt,
  node_upgrade_picked_up: z.object({ batch: count }),
  node_state_changed: z.object({ from: z.enum(NODE_STATES), to: z.enum(NODE_STATES) }),
  node_added: z.object({ name: z.string(), chain_profile_id: z.string(), reason: why }),
  join_token_issued: z.object({ expires_at: z.iso.datetime(), reason: why }),
  node_joined: z.object({ hostname: z.string(), agent_version: z.string(), os: z.string(), arch: z.string() }),
  node_version_named: z.object({
    binary_name: z.string(),
    version: z.string(),
    source: z.string(),
    reason: z.string().optional(),
  }),
  /** The hosts that claim to be the node, newest first (B3). */
  node_quarantined: z.object({
    sessions: z.array(z.object({ instance_nonce: z.string(), hostname: z.string(), boot_id: z.string() })),
  }),
  node_held: z.object({ expires_at: z.iso.datetime(), reason: z.string() }),
  node_pinned: z.object({
    binary_name: z.string(),
    version: z.string(),
    expires_at: z.iso.datetime().nullable(),
    reason: z.string(),
  }),
  node_released: z.object({ released: z.array(z.enum(['hold', 'pin'])), reason: why }),
  config_drift_overwritten: z.object({ path: z.string(), places: z.string(), attempt_id: z.string() }),
  incident_opened: z.object({ category: z.enum(INCIDENT_CATEGORIES), summary: z.string() }),
  incident_acknowledged: z.object({ reason: why }),
  incident_resolved: z.object({ reason: why, why: z.string().optional() }),
  api_key_created: z.object({ name: z.string(), scopes: z.array(scopeSchema), reason: why }),
  api_key_revoked: z.object({ name: z.string() }),
  scope_granted: z.object({ subject: z.string(), scope: scopeSchema, reason: why }),
  scope_revoked: z.object({ subject: z.string(), scope: scopeSchema }),
  policy_created: policy,
  policy_changed: policy,
  policy_deleted: policy,
  rule_overridden: z.object({ rule: z.string(), reason: z.string(), expires_at: z.iso.datetime() }),
} as const satisfies Readonly<Record<EventKind, z.ZodType>>;

export type EventData = { readonly [Kind in EventKind]: z.infer<(typeof EVENT_DATA)[Kind]> };
