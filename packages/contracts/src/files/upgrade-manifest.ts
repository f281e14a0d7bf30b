import { MIGRATION_TYPES } from '@hoodcloud/domain/rollout-strategy-name';
import { z } from 'zod';

/** `sha256:<64 hex>`. */
export const checksumSchema = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be "sha256:" and 64 lower-case hex digits; get it with sha256sum');

/** One config file that an upgrade changes; template names are files of the chain's templates folder. */
export const configChangeSchema = z.strictObject({
  path: z.string().startsWith('/', 'must be an absolute path'),
  template: z.string().min(1),
  /** E2: `variable_overrides` is accepted too and means the same. */
  overrides: z.record(z.string(), z.string()).optional(),
  variable_overrides: z.record(z.string(), z.string()).optional(),
});

/** `{ConfigDir}/upgrades/{chain_profile_id}/{upgrade_id}.yaml` (spec "Manifest Loader"). */
export const upgradeManifestSchema = z.strictObject({
  upgrade_id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/),
  chain_profile_id: z.string().min(1).max(100),
  node_type: z.string().min(1).max(50),
  binary_name: z.string().min(1).max(100),
  target_version: z.string().min(1).max(50),
  target_url: z.string().min(1),
  target_checksum: checksumSchema,
  /** Member of an archive to install (A11). */
  target_member: z.string().min(1).optional(),
  state_compatibility: z
    .strictObject({ migration_type: z.enum(MIGRATION_TYPES).default('none'), notes: z.string().optional() })
    .default({ migration_type: 'none' }),
  recovery_plan: z.string().optional(),
  config_changes: z.array(configChangeSchema).default([]),
  drift: z.enum(['fail', 'overwrite']).default('fail'),
  link: z.enum(['follow', 'replace']).default('follow'),
});
export type UpgradeManifest = z.infer<typeof upgradeManifestSchema>;
