import { MIGRATION_TYPES } from '@hoodcloud/domain/rollout-strategy-name';
import { z } from 'zod';
import { chainHealthSchema } from '../files/chain-profile.ts';
import { platformArtifactSchema } from '../files/upgrade-manifest.ts';
import { timestampSchema, uuidSchema } from './common.ts';

/** A chain that has a profile in the config folder, or nodes: what it is, and how it stands. */
export const chainSchema = z
  .object({
    chain_profile_id: z.string(),
    /** Why its files can't be read, each as `file:line:column: what`; empty when all is well. */
    problems: z.array(z.string()),
    node_types: z.array(z.string()),
    binaries: z.array(
      z.object({
        name: z.string(),
        artifact_kind: z.enum(['file', 'image']),
        known_versions: z.array(z.object({ version: z.string(), checksum: z.string() })),
      }),
    ),
    /** null: the chain has no `runtime.yaml`. */
    runtime_type: z.enum(['systemd', 'docker', 'process']).nullable(),
    two_person_approval: z.boolean(),
    /** What a release must be before it is installed; null: the profile can't be read. */
    trust: z
      .object({
        /** null: any age. */
        minimum_release_age_hours: z.number().nullable(),
        /** null: from anywhere. */
        allowed_origins: z.array(z.string()).nullable(),
        /** Who approves a rollout before its first node; null: nobody has to. */
        approvals: z.enum(['two_persons']).nullable(),
      })
      .nullable(),
    /** null: the profile can't be read. */
    health: chainHealthSchema.nullable(),
    nodes: z.number().int(),
    nodes_online: z.number().int(),
    /** The best height of its nodes, and when it last grew (D4a); null: nothing was ever measured. */
    best_height: z.number().int().nullable(),
    height_grew_at: timestampSchema.nullable(),
    /** Longer without a new height than the chain's `max_block_interval_seconds`; an unknown height is no halt (D4a). */
    halted: z.boolean(),
    /** What changes the chain at this moment; one at a time (C2). */
    active: z.object({ type: z.enum(['rollout', 'rollout_group']), id: uuidSchema }).nullable(),
    manifests: z.number().int(),
  })
  .meta({ id: 'Chain' });
export type ChainView = z.infer<typeof chainSchema>;
export const chainListSchema = z.object({ items: z.array(chainSchema) });
export const chainParamsSchema = z.object({ id: z.string().min(1).max(100) });

/** `verified` and `refused` are said only where `HOODCLOUD_MANIFEST_KEYS` demands signatures. */
export const MANIFEST_SIGNATURES = ['not_required', 'verified', 'refused'] as const;

/** An upgrade manifest as it is stored now; one that can't be used says why. */
export const manifestSchema = z
  .object({
    upgrade_id: z.string(),
    chain_profile_id: z.string(),
    /** Path below the config folder. */
    file: z.string(),
    /** `sha256:<hex>` of the raw bytes (E3). */
    content_hash: z.string(),
    signature: z.enum(MANIFEST_SIGNATURES),
    /** Why no rollout can use it; empty when one can. */
    problems: z.array(z.string()),
    /** What it says; null when it can't be read. */
    upgrade: z
      .object({
        node_type: z.string(),
        binary_name: z.string(),
        target_version: z.string(),
        migration_type: z.enum(MIGRATION_TYPES),
        notes: z.string().nullable(),
        recovery_plan: z.string().nullable(),
        /** By platform; the one artifact of a manifest without platforms stands under `any`. */
        artifacts: z.record(z.string(), platformArtifactSchema),
        config_paths: z.array(z.string()),
        drift: z.enum(['fail', 'overwrite']),
      })
      .nullable(),
  })
  .meta({ id: 'Manifest' });
export type ManifestView = z.infer<typeof manifestSchema>;
export const manifestListSchema = z.object({ items: z.array(manifestSchema) });
