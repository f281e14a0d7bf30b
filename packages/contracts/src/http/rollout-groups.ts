import { ROLLOUT_GROUP_CONTROLS } from '@hoodcloud/domain/rollout-group-control';
import { FAILURE_POLICIES, ROLLOUT_GROUP_STATUSES } from '@hoodcloud/domain/rollout-group-status';
import { ROLLOUT_DIRECTIONS, ROLLOUT_STATUSES } from '@hoodcloud/domain/rollout-status';
import { ROLLOUT_STRATEGIES } from '@hoodcloud/domain/rollout-strategy-name';
import { z } from 'zod';
import { pageQuerySchema, pageSchema, reasonSchema, timestampSchema, uuidSchema } from './common.ts';
import { fieldErrorSchema } from './problem.ts';
import { rolloutPlanSchema } from './rollout-plan.ts';
import { controlRequestSchema, createRolloutSchema } from './rollout-requests.ts';
import { rolloutSchema } from './rollout-views.ts';

const { shape } = createRolloutSchema;

/** How nodes follow one another; what is left out is the group's, then the default of `POST /rollouts`. */
const settings = {
  batch_size: shape.batch_size.removeDefault().optional(),
  canary_size: shape.canary_size.removeDefault().optional(),
  failure_threshold: shape.failure_threshold.removeDefault().optional(),
  max_failures: shape.max_failures,
  min_attempted: shape.min_attempted.removeDefault().optional(),
  max_in_flight: shape.max_in_flight,
  health_wait_ms: shape.health_wait_ms,
  force_continue: shape.force_continue.removeDefault().optional(),
  skip_validation: shape.skip_validation.removeDefault().optional(),
  offline_policy: shape.offline_policy.removeDefault().optional(),
  retry_failed: shape.retry_failed.removeDefault().optional(),
  late_nodes: shape.late_nodes.removeDefault().optional(),
  drift_policy: shape.drift_policy,
  acknowledge_state_risk: shape.acknowledge_state_risk.removeDefault().optional(),
  acknowledge_quorum_share: shape.acknowledge_quorum_share,
};

/** One entry of `component_order`: with `upgrade_id` the manifest says what the upgrade is, without it the entry does. */
const groupComponentRequestSchema = z.strictObject({
  binary_name: z.string().min(1).max(100),
  /** Its place in `component_order`, from 0; the same when left out (rule 8). */
  component_index: z.number().int().min(0).optional(),
  upgrade_id: shape.upgrade_id,
  source_version: shape.source_version,
  target_binary_url: shape.target_binary_url,
  target_binary_checksum: shape.target_binary_checksum,
  target_artifact_member: shape.target_artifact_member,
  target_artifact_signature: shape.target_artifact_signature,
  artifacts: shape.artifacts,
  manifest_content_hash: shape.manifest_content_hash,
  migration_type: shape.migration_type,
  recovery_plan: shape.recovery_plan,
  config_changes: shape.config_changes,
  /** The group's when left out. */
  strategy: shape.strategy.optional(),
  ...settings,
});

/**
 * Body of `POST /api/v1/rollout-groups`. Rules 8 and 9, and each component's rules 1 to 7, are checked after this shape,
 * all at once (422).
 */
export const createRolloutGroupSchema = z
  .strictObject({
    chain_profile_id: shape.chain_profile_id,
    node_type: shape.node_type,
    /** Required; there is no default (rule 9). */
    failure_policy: z.enum(FAILURE_POLICIES).optional(),
    /** `binary_name` to the version it is to have. */
    desired_versions: z.record(z.string().min(1).max(100), z.string().min(1).max(50)),
    component_order: z.array(groupComponentRequestSchema).max(20),
    strategy: z.enum(ROLLOUT_STRATEGIES),
    /** How long the gate after a component waits for healthy nodes before the component counts as failed. */
    gate_timeout_ms: z
      .number()
      .int()
      .min(0)
      .max(7 * 24 * 3_600_000)
      .default(1_800_000),
    node_ids: shape.node_ids,
    ...settings,
  })
  .meta({ id: 'CreateRolloutGroup' });
export type CreateRolloutGroupRequest = z.infer<typeof createRolloutGroupSchema>;
export type CreateRolloutGroupInput = z.input<typeof createRolloutGroupSchema>;

/** Body of `skip`: the component the group stands at when none is named. */
export const skipComponentSchema = controlRequestSchema.extend({ component_index: z.number().int().min(0).optional() });

/** What a group would do: each component's plan in its order, and every rule that is broken. */
export const rolloutGroupPlanSchema = z
  .object({
    chain_profile_id: z.string(),
    failure_policy: z.enum(FAILURE_POLICIES).nullable(),
    components: z.array(
      z.object({ component_index: z.number().int(), binary_name: z.string(), plan: rolloutPlanSchema }),
    ),
    violations: z.array(fieldErrorSchema),
  })
  .meta({ id: 'RolloutGroupPlan' });
export type RolloutGroupPlanView = z.infer<typeof rolloutGroupPlanSchema>;

/** What the group does now and why (C7a): the last answer of `decideGroup`. */
const groupWaitingSchema = z.object({
  kind: z.enum(['start_component', 'steer', 'wait', 'pause', 'roll_back', 'finish']),
  until: timestampSchema.nullable(),
  reasons: z.array(reasonSchema),
});

const groupComponentSchema = z.object({
  component_index: z.number().int(),
  binary_name: z.string(),
  upgrade_id: z.string().nullable(),
  source_version: z.string().nullable(),
  target_version: z.string(),
  strategy: z.enum(ROLLOUT_STRATEGIES),
});

export const rolloutGroupSchema = z
  .object({
    id: uuidSchema,
    chain_profile_id: z.string(),
    node_type: z.string(),
    status: z.enum(ROLLOUT_GROUP_STATUSES),
    status_reason: reasonSchema.nullable(),
    status_changed_at: timestampSchema,
    direction: z.enum(ROLLOUT_DIRECTIONS),
    failure_policy: z.enum(FAILURE_POLICIES),
    component_order: z.array(groupComponentSchema),
    desired_versions: z.record(z.string(), z.string()),
    strategy: z.enum(ROLLOUT_STRATEGIES),
    gate_timeout_ms: z.number().int(),
    waiting: groupWaitingSchema.nullable(),
    created_by: z.string(),
    created_at: timestampSchema,
    started_at: timestampSchema.nullable(),
    ended_at: timestampSchema.nullable(),
  })
  .meta({ id: 'RolloutGroup' });
export type RolloutGroupView = z.infer<typeof rolloutGroupSchema>;

/** One group with the rollouts of the components that have begun, in their order. */
export const rolloutGroupDetailSchema = rolloutGroupSchema
  .extend({
    /** Why it stands where it stands, from its rows of this moment; never empty, the most important first. */
    why: z.array(reasonSchema),
    rollouts: z.array(rolloutSchema),
    legal_controls: z.array(z.enum(ROLLOUT_GROUP_CONTROLS)),
  })
  .meta({ id: 'RolloutGroupDetail' });
export type RolloutGroupDetail = z.infer<typeof rolloutGroupDetailSchema>;

const componentProgressSchema = groupComponentSchema.extend({
  /** Null until its turn comes. */
  rollout_id: uuidSchema.nullable(),
  status: z.enum(ROLLOUT_STATUSES).nullable(),
  status_reason: reasonSchema.nullable(),
  direction: z.enum(ROLLOUT_DIRECTIONS),
  /** A person left it out. */
  skipped: z.boolean(),
  total_nodes: z.number().int(),
  succeeded_nodes: z.number().int(),
  failed_nodes: z.number().int(),
  pending_nodes: z.number().int(),
  skipped_nodes: z.number().int(),
});
export type ComponentProgress = z.infer<typeof componentProgressSchema>;

/** Group status and per-component progress (spec "Rollout Group Endpoints"). */
export const rolloutGroupStatusSchema = z
  .object({
    id: uuidSchema,
    status: z.enum(ROLLOUT_GROUP_STATUSES),
    status_reason: reasonSchema.nullable(),
    direction: z.enum(ROLLOUT_DIRECTIONS),
    failure_policy: z.enum(FAILURE_POLICIES),
    waiting: groupWaitingSchema.nullable(),
    /** As of `RolloutGroupDetail`. */
    why: z.array(reasonSchema),
    components: z.array(componentProgressSchema),
  })
  .meta({ id: 'RolloutGroupStatus' });
export type RolloutGroupStatusView = z.infer<typeof rolloutGroupStatusSchema>;

export const rolloutGroupListQuerySchema = pageQuerySchema.extend({
  chain_profile_id: z.string().optional(),
  status: z.enum(ROLLOUT_GROUP_STATUSES).optional(),
});
export const rolloutGroupPageSchema = pageSchema(rolloutGroupSchema);
