import {
  archiveMemberSchema,
  artifactSignatureSchema,
  configChangeSchema,
  platformArtifactsSchema,
} from '@hoodcloud/contracts/files/upgrade-manifest';
import { LATE_NODE_POLICIES } from '@hoodcloud/domain/late-nodes';
import { MIGRATION_TYPES, ROLLOUT_STRATEGIES } from '@hoodcloud/domain/rollout-strategy-name';
import { ACTIVATION_MODES } from '@hoodcloud/domain/staging';
import { z } from 'zod';
import { weeklyWindowSchema } from '../policies/maintenance-window.ts';
import { policyNameSchema } from '../policies/policy-document.ts';
import { batchOrderFields } from './batch-order.ts';
import { timestampSchema, uuidSchema, whySchema } from './common.ts';
import { failureClassesSchema } from './failure-classes.ts';

/**
 * Body of `POST /api/v1/rollouts` and `POST /api/v1/rollouts/plan`. With `upgrade_id` the manifest gives what the upgrade
 * is (auto mode); without it the request does (manual mode). Rules 1-9 are checked after this shape, all at once (422).
 */
export const createRolloutSchema = z
  .strictObject({
    /** A name that no other rollout ever had, so that what is written down is created once; none when left out. */
    name: policyNameSchema.optional(),
    chain_profile_id: z.string().min(1).max(100),
    node_type: z.string().min(1).max(50),
    upgrade_id: z.string().min(1).max(100).optional(),
    binary_name: z.string().min(1).max(100).optional(),
    /** In auto mode it may be left out: then it is each node's own version (E5). */
    source_version: z.string().min(1).max(50).optional(),
    target_version: z.string().min(1).max(50).optional(),
    target_binary_url: z.string().max(2000).optional(),
    target_binary_checksum: z.string().max(200).optional(),
    /** Member of an archive to install (A11). */
    target_artifact_member: archiveMemberSchema.optional(),
    target_artifact_signature: artifactSignatureSchema.optional(),
    /** Instead of the `target_binary_…` and `target_artifact_…` fields: an artifact for each platform. */
    artifacts: platformArtifactsSchema.optional(),
    manifest_content_hash: z.string().max(100).optional(),
    migration_type: z.enum(MIGRATION_TYPES).optional(),
    recovery_plan: z.string().max(10_000).optional(),
    acknowledge_state_risk: z.boolean().default(false),
    /** For `all_at_once` over the chain's quorum limit: the share of voting power that the refusal names, such as `0.75`. */
    acknowledge_quorum_share: z.string().max(20).optional(),
    config_changes: z.array(configChangeSchema).max(50).optional(),
    strategy: z.enum(ROLLOUT_STRATEGIES),
    batch_size: z.number().int().min(1).max(100_000).default(1),
    canary_size: z.number().int().min(1).max(100_000).default(1),
    ...batchOrderFields,
    /** Share of attempted nodes that may fail, 0..1 (C5). */
    failure_threshold: z.number().min(0).max(1).default(0),
    max_failures: z.number().int().min(0).optional(),
    min_attempted: z.number().int().min(1).default(1),
    /** Failures told apart by what they tell; left out: all count alike (C5). */
    failure_classes: failureClassesSchema.optional(),
    max_in_flight: z.number().int().min(1).optional(),
    /** The page's `health_wait_duration`, in milliseconds; the chain's `health_wait_seconds` when left out. */
    health_wait_ms: z
      .number()
      .int()
      .min(0)
      .max(24 * 3_600_000)
      .optional(),
    force_continue: z.boolean().default(false),
    skip_validation: z.boolean().default(false),
    /** What to do with a node that is offline at its turn. */
    offline_policy: z.enum(['skip', 'wait']).default('skip'),
    /** Nodes that failed this version in an earlier rollout are offered it again; they are left out otherwise. */
    retry_failed: z.boolean().default(false),
    /** Whether nodes that join, or are heard of again, while the rollout runs are taken after all others. */
    late_nodes: z.enum(LATE_NODE_POLICIES).default('ignore'),
    /** No node starts before the chain is at this height. */
    start_at_height: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
    /** No node starts before this time. */
    start_at: timestampSchema.optional(),
    /** Windows for this rollout alone: one of them must be open, beside those that cover its nodes. */
    windows: z.array(weeklyWindowSchema).min(1).max(20).optional(),
    /** Every node makes ready ahead what needs no stop, at once and without regard to batches. */
    stage: z.boolean().default(false),
    /** Who swaps at `start_at_height`: the rollout, or each agent by itself when its node has ended there, passed it, or wrote its plan file. */
    activation: z.enum(ACTIVATION_MODES).default('rollout'),
    /** Local edits of a config file (E4); the manifest's when left out. */
    drift_policy: z.enum(['fail', 'overwrite']).optional(),
    /** Only these nodes; every node of the chain and type when left out. */
    node_ids: z.array(uuidSchema).min(1).max(100_000).optional(),
  })
  .meta({
    id: 'CreateRollout',
    examples: [
      {
        chain_profile_id: 'celestia-mocha',
        node_type: 'full',
        binary_name: 'cometbft',
        source_version: 'v1.0.0',
        target_version: 'v2.0.0',
        target_binary_url: 'https://example.org/releases/v2.0.0',
        target_binary_checksum: `sha256:${'b'.repeat(64)}`,
        manifest_content_hash: `sha256:${'c'.repeat(64)}`,
        strategy: 'canary',
        canary_size: 1,
        batch_size: 2,
      },
    ],
  });
export type CreateRolloutRequest = z.infer<typeof createRolloutSchema>;
/** What a caller may send: everything that has a default may be left out. */
export type CreateRolloutInput = z.input<typeof createRolloutSchema>;

/** Body of every control: who orders it is known from the credentials, why is said here. */
export const controlRequestSchema = z
  .strictObject({ reason: whySchema.optional() })
  .meta({ id: 'Control', examples: [{ reason: 'the exchange asked us to wait' }] });
export type ControlRequest = z.infer<typeof controlRequestSchema>;
