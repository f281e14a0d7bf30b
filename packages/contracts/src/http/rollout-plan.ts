import { z } from 'zod';
import { platformArtifactsSchema } from '../files/upgrade-manifest.ts';
import { reasonSchema, uuidSchema } from './common.ts';
import { fieldErrorSchema } from './problem.ts';

const plannedNodeSchema = z.object({
  node_id: uuidSchema,
  node_name: z.string(),
  /** null: unknown; name it by `POST /nodes/{id}/components/{binary}/version` (B2). */
  source_version: z.string().nullable(),
  online: z.boolean(),
});

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
    batches: z.array(z.object({ index: z.number().int(), canary: z.boolean(), nodes: z.array(plannedNodeSchema) })),
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
