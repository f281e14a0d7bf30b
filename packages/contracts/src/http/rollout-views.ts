import { FAILURE_CLASSES } from '@hoodcloud/domain/failure-class';
import { LATE_NODE_POLICIES } from '@hoodcloud/domain/late-nodes';
import { NODE_STATES } from '@hoodcloud/domain/node-state';
import { NODE_UPGRADE_STATUSES } from '@hoodcloud/domain/node-upgrade-status';
import { ROLLOUT_CONTROLS } from '@hoodcloud/domain/rollout-control';
import { ROLLOUT_DIRECTIONS, ROLLOUT_STATUSES } from '@hoodcloud/domain/rollout-status';
import { MIGRATION_TYPES, ROLLOUT_STRATEGIES } from '@hoodcloud/domain/rollout-strategy-name';
import { ACTIVATION_MODES, STAGE_GOALS, STAGE_STATES } from '@hoodcloud/domain/staging';
import { UPGRADE_PHASES } from '@hoodcloud/domain/upgrade-phase';
import { z } from 'zod';
import { platformArtifactsSchema } from '../files/upgrade-manifest.ts';
import { weeklyWindowSchema } from '../policies/maintenance-window.ts';
import { batchOrderSchema } from './batch-order.ts';
import { idListSchema, pageQuerySchema, pageSchema, reasonSchema, timestampSchema, uuidSchema } from './common.ts';
import { failureClassesSchema } from './failure-classes.ts';

/** What the rollout does now and why (C7a): the last answer of `decideNext`. */
export const waitingSchema = z.object({
  kind: z.enum(['run', 'wait', 'pause', 'roll_back', 'finish']),
  until: timestampSchema.nullable(),
  reasons: z.array(reasonSchema),
});

export const rolloutSchema = z
  .object({
    id: uuidSchema,
    /** What it was created under by name, such as by `hoodctl apply`; most have none. */
    name: z.string().nullable(),
    group_id: uuidSchema.nullable(),
    component_index: z.number().int(),
    chain_profile_id: z.string(),
    node_type: z.string(),
    upgrade_id: z.string().nullable(),
    binary_name: z.string(),
    source_version: z.string().nullable(),
    target_version: z.string(),
    artifact_kind: z.enum(['file', 'image']),
    target_binary_url: z.string(),
    target_binary_checksum: z.string(),
    /** By platform, when there is more than one; the two fields above then name the first. null: one for all. */
    artifacts: platformArtifactsSchema.nullable(),
    strategy: z.enum(ROLLOUT_STRATEGIES),
    batch_size: z.number().int(),
    canary_size: z.number().int(),
    /** null: nothing but the sizes. */
    batch_order: batchOrderSchema.nullable(),
    failure_threshold: z.number(),
    max_failures: z.number().int().nullable(),
    min_attempted: z.number().int(),
    /** null: failures are not told apart. */
    failure_classes: failureClassesSchema.nullable(),
    max_in_flight: z.number().int().nullable(),
    health_wait_ms: z.number().int(),
    force_continue: z.boolean(),
    skip_validation: z.boolean(),
    offline_policy: z.enum(['skip', 'wait']),
    /** Nodes that failed this version in an earlier rollout are offered it again. */
    retry_failed: z.boolean(),
    /** Whether nodes that come while it runs are taken after all others. */
    late_nodes: z.enum(LATE_NODE_POLICIES),
    /** No node starts before the chain is at this height. */
    start_at_height: z.number().int().nullable(),
    /** No node starts before this time. */
    start_at: timestampSchema.nullable(),
    /** Windows for this rollout alone. */
    windows: z.array(weeklyWindowSchema).nullable(),
    /** Every node makes ready ahead what needs no stop. */
    stage: z.boolean(),
    /** Who swaps at the height. */
    activation: z.enum(ACTIVATION_MODES),
    drift_policy: z.enum(['fail', 'overwrite']),
    migration_type: z.enum(MIGRATION_TYPES),
    recovery_plan: z.string().nullable(),
    acknowledge_state_risk: z.boolean(),
    /** The canaries of this rollout must be approved by somebody else than its creator. */
    two_person_approval: z.boolean(),
    /** Somebody else than its creator must approve this rollout before its first node, as its chain said at creation. */
    start_approval: z.boolean(),
    manifest_content_hash: z.string(),
    status: z.enum(ROLLOUT_STATUSES),
    status_reason: reasonSchema.nullable(),
    status_changed_at: timestampSchema,
    direction: z.enum(ROLLOUT_DIRECTIONS),
    total_nodes: z.number().int(),
    succeeded_nodes: z.number().int(),
    failed_nodes: z.number().int(),
    pending_nodes: z.number().int(),
    skipped_nodes: z.number().int(),
    waiting: waitingSchema.nullable(),
    created_by: z.string(),
    created_at: timestampSchema,
    started_at: timestampSchema.nullable(),
    ended_at: timestampSchema.nullable(),
  })
  .meta({ id: 'Rollout' });
export type RolloutView = z.infer<typeof rolloutSchema>;

/** One rollout in full: also what can be ordered now, and whether its manifest changed since (E3). */
export const rolloutDetailSchema = rolloutSchema
  .extend({
    /** Why it stands where it stands, from its rows of this moment; never empty, the most important first. */
    why: z.array(reasonSchema),
    in_flight_nodes: z.number().int(),
    /** What the failure threshold compares (C5): attempts begun, and failures that no resume has acknowledged. */
    attempted_nodes: z.number().int(),
    counted_failures: z.number().int(),
    /** The threshold is ignored: a person or the rollout's settings said so (C6). */
    threshold_ignored: z.boolean(),
    legal_controls: z.array(z.enum(ROLLOUT_CONTROLS)),
    /** null: there is no manifest to compare with (manual mode). */
    manifest_drift: z.enum(['unchanged', 'changed', 'missing']).nullable(),
  })
  .meta({ id: 'RolloutDetail' });
export type RolloutDetail = z.infer<typeof rolloutDetailSchema>;

export const rolloutListQuerySchema = pageQuerySchema.extend({
  chain_profile_id: z.string().max(100).optional(),
  status: z.enum(ROLLOUT_STATUSES).optional(),
  name: z.string().max(100).optional(),
});
export const rolloutPageSchema = pageSchema(rolloutSchema);

/** How far the running command is (B4a). */
export const commandProgressSchema = z.object({
  operation: z.enum(['UPGRADE', 'COMPENSATE', 'CONFIRM']),
  status: z.string(),
  action_index: z.number().int().nullable(),
  action_name: z.string().nullable(),
  progress_pct: z.number().int().nullable(),
  note: z.string().nullable(),
  at: timestampSchema.nullable(),
});

/** What a node has ready ahead of its attempt. */
const stagedSchema = z.object({
  /** What its agent was last told to have; null: nothing yet. */
  goal: z.enum(STAGE_GOALS).nullable(),
  /** What the agent said last; null: nothing yet. */
  state: z.enum(STAGE_STATES).nullable(),
  /** Why it is not ready. */
  error: z.string().nullable(),
  changed_at: timestampSchema.nullable(),
});

export const rolloutNodeSchema = z
  .object({
    rollout_id: uuidSchema,
    node_id: uuidSchema,
    node_name: z.string(),
    node_state: z.enum(NODE_STATES),
    online: z.boolean(),
    height: z.number().int().nullable(),
    batch_index: z.number().int(),
    /** It joined, or came back, while the rollout ran. */
    late: z.boolean(),
    status: z.enum(NODE_UPGRADE_STATUSES),
    status_reason: reasonSchema.nullable(),
    upgrade_phase: z.enum(UPGRADE_PHASES).nullable(),
    phase_changed_at: timestampSchema.nullable(),
    attempt_count: z.number().int(),
    attempt_direction: z.enum(ROLLOUT_DIRECTIONS),
    previous_version: z.string().nullable(),
    previous_binary_url: z.string().nullable(),
    previous_checksum: z.string().nullable(),
    installed_checksum: z.string().nullable(),
    running_checksum: z.string().nullable(),
    /** What the host runs now, as its last heartbeat said. */
    current_checksum: z.string().nullable(),
    command: commandProgressSchema.nullable(),
    /** How far it is with making ready ahead; null: the rollout does not ask for that. */
    staged: stagedSchema.nullable(),
    /** What the open or last proof of health still misses. */
    health_reasons: z.array(reasonSchema),
    /** Why the node is where it is, from rows of this moment; never empty, the most important first. */
    why: z.array(reasonSchema),
    error_message: z.string().nullable(),
    /** What its failure tells; null: it did not fail. */
    failure_class: z.enum(FAILURE_CLASSES).nullable(),
    /** A result that came after the row had ended: shown, never applied (B5a). */
    late_result: z.unknown(),
    left_stopped: z.boolean(),
    started_at: timestampSchema.nullable(),
    ended_at: timestampSchema.nullable(),
    duration_ms: z.number().int().nullable(),
    downtime_ms: z.number().int().nullable(),
  })
  .meta({ id: 'RolloutNode' });
export type RolloutNodeView = z.infer<typeof rolloutNodeSchema>;

export const rolloutNodeListQuerySchema = pageQuerySchema.extend({
  status: z.enum(NODE_UPGRADE_STATUSES).optional(),
  /** Only these, at most 100: what a screen asks for again when something happened to them. */
  node_id: idListSchema.optional(),
  /** Part of the name, in any case. */
  name: z.string().max(100).optional(),
  /** -1: the nodes left out at the start. */
  batch: z.coerce.number().int().min(-1).max(1_000_000).optional(),
});
export type RolloutNodeListQuery = z.infer<typeof rolloutNodeListQuerySchema>;
export const rolloutNodePageSchema = pageSchema(rolloutNodeSchema);

/**
 * The batches of a rollout in their order, small whatever the number of nodes: neighbours of one size whose nodes all have
 * one and the same status come as one range. Batch -1, the nodes left out at the start, is last.
 */
export const rolloutBatchesSchema = z
  .object({
    items: z.array(
      z.object({
        first_batch: z.number().int(),
        last_batch: z.number().int(),
        nodes: z.number().int(),
        counts: z.array(z.object({ status: z.enum(NODE_UPGRADE_STATUSES), nodes: z.number().int() })),
      }),
    ),
  })
  .meta({ id: 'RolloutBatches' });
export type RolloutBatchesView = z.infer<typeof rolloutBatchesSchema>;

export const rolloutNodeParamsSchema = z.object({ id: uuidSchema, nodeId: uuidSchema });

/** Last lines of the failed version's log (A18). */
export const rolloutNodeLogsSchema = z.object({
  node_id: uuidSchema,
  node_name: z.string(),
  lines: z.array(z.string()),
});
export type RolloutNodeLogs = z.infer<typeof rolloutNodeLogsSchema>;
