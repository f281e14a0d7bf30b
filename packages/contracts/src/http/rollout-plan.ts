import { HOOK_POINTS } from '@hoodcloud/domain/vendor-hook';
import { z } from 'zod';
import { platformArtifactsSchema } from '../files/upgrade-manifest.ts';
import { reasonSchema, timestampSchema, uuidSchema } from './common.ts';
import { fieldErrorSchema } from './problem.ts';

const plannedNodeSchema = z.object({
  node_id: uuidSchema,
  node_name: z.string(),
  /** null: unknown; name it by `POST /nodes/{id}/components/{binary}/version` (B2). */
  source_version: z.string().nullable(),
  online: z.boolean(),
});

/**
 * What becomes of one config file, once for all nodes where it is the same. `changed`: another content than the agent saw
 * there; `unchanged`: the same; `unseen`: no agent has told what stands there.
 */
const configDiffSchema = z
  .object({
    path: z.string(),
    change: z.enum(['changed', 'unchanged', 'unseen']),
    nodes: z.array(z.object({ node_id: uuidSchema, node_name: z.string() })),
    /** `sha256:<hex>` of what the agent last saw there; null: never told, or withheld beside a diff with secrets. */
    current_checksum: z.string().nullable(),
    planned_checksum: z.string().nullable(),
    /** The file on the host is not what a rollout wrote there last: somebody edited it (E4). */
    edited_on_host: z.boolean(),
    /** Unified diff, secrets masked; null where it can't be made, `remark` says why. */
    diff: z.string().nullable(),
    remark: z.string().nullable(),
  })
  .meta({ id: 'ConfigDiff' });
export type ConfigDiffView = z.infer<typeof configDiffSchema>;

/** What the control plane itself found at an artifact's address; the hosts may see something else. */
const plannedArtifactSchema = z
  .object({
    /** null: for every platform. */
    platform: z.string().nullable(),
    url: z.string(),
    checksum: z.string(),
    /** `reachable`; `refused`: an answer that is no success; `unreachable`: none in time; `not_asked`: see `remark`. */
    state: z.enum(['reachable', 'refused', 'unreachable', 'not_asked']),
    size_bytes: z.number().int().nullable(),
    remark: z.string().nullable(),
  })
  .meta({ id: 'PlannedArtifact' });
export type PlannedArtifactView = z.infer<typeof plannedArtifactSchema>;

/** From succeeded upgrades of the same binary on the same chain: medians, no promise. */
const planEstimateSchema = z
  .object({
    /** How many upgrades it is from; 0: there were none, and everything below is null. */
    past_upgrades: z.number().int(),
    node_ms: z.number().int().nullable(),
    downtime_ms: z.number().int().nullable(),
    /** All batches one after the other, while nobody pauses and nothing fails; approvals by people are not in it. */
    rollout_ms: z.number().int().nullable(),
  })
  .meta({ id: 'PlanEstimate' });

/** The most nodes of the fleet (`zone` null) or of one zone (label `zone`), or the voting power, that a batch takes down at once. */
const planShareSchema = z
  .object({
    /** What is counted. */
    measure: z.enum(['nodes', 'power']),
    zone: z.string().nullable(),
    batch_index: z.number().int(),
    down: z.number().int(),
    /** Nodes of the chain and the node type, or the voting power of the whole chain. */
    total: z.number().int(),
  })
  .meta({ id: 'PlanShare' });
export type PlanShareView = z.infer<typeof planShareSchema>;

/** When the first node would start, were the rollout started now, and what holds nodes at this moment. */
const planScheduleSchema = z
  .object({
    /** null: never, since no node is planned, or its windows are not open together. */
    first_start_at: timestampSchema.nullable(),
    /** Windows, freezes and the rollout's own time that hold nodes now, each with how many. */
    holds: z.array(z.object({ sentence: z.string(), nodes: z.number().int() })),
  })
  .meta({ id: 'PlanSchedule' });
export type PlanScheduleView = z.infer<typeof planScheduleSchema>;

/** A step of the vendor: code that the upgrade runs on each host. */
const planHookSchema = z
  .object({
    name: z.string(),
    at: z.enum(HOOK_POINTS),
    command: z.array(z.string()),
    timeout_ms: z.number().int(),
    /** null: nothing undoes it. */
    undo: z.array(z.string()).nullable(),
    /** Of a question about a duty: which exit statuses ask again later, and for how long at most. */
    ask_again: z.object({ exit_codes: z.array(z.number().int()), longest_wait_ms: z.number().int() }).optional(),
  })
  .meta({ id: 'PlanHook' });
export type PlanHookView = z.infer<typeof planHookSchema>;

/** What a rollout would do: who, in which order, who is left out and why, and every rule it breaks. */
export const rolloutPlanSchema = z
  .object({
    chain_profile_id: z.string(),
    binary_name: z.string().nullable(),
    target_version: z.string().nullable(),
    target_binary_url: z.string().nullable(),
    target_binary_checksum: z.string().nullable(),
    /** By platform, when there is more than one; the two fields above then name the first. null: one for all. */
    artifacts: platformArtifactsSchema.nullable(),
    migration_type: z.string(),
    rollback_tier: z.number().int().nullable(),
    manifest_content_hash: z.string().nullable(),
    config_paths: z.array(z.string()),
    /** In their order; left out in plans that were saved before there were any. */
    hooks: z.array(planHookSchema).optional(),
    /** Of the nodes that would be upgraded; those of the first 100 with a diff. */
    config_diffs: z.array(configDiffSchema),
    /** What would be downloaded, each as it was found from here. */
    artifact_checks: z.array(plannedArtifactSchema),
    estimate: planEstimateSchema,
    shares: z.array(planShareSchema),
    /** Left out in plans that were saved before there were windows. */
    schedule: planScheduleSchema.optional(),
    batches: z.array(
      z.object({
        index: z.number().int(),
        canary: z.boolean(),
        /** Which nodes those are, where the request named batches; null: it did not. */
        of: z.string().nullable(),
        nodes: z.array(plannedNodeSchema),
      }),
    ),
    ineligible: z.array(z.object({ node_id: uuidSchema, node_name: z.string(), reason: reasonSchema })),
    /** Versions the nodes have now, and how many have each (E5: mixed sources are shown). */
    sources: z.array(z.object({ version: z.string().nullable(), nodes: z.number().int() })),
    /** How many failures are borne before the rollout pauses itself; null: no limit (forced). */
    failures_allowed: z.number().int().nullable(),
    warnings: z.array(z.string()),
    violations: z.array(fieldErrorSchema),
  })
  .meta({ id: 'RolloutPlan' });
export type RolloutPlanView = z.infer<typeof rolloutPlanSchema>;
