import { MIGRATION_TYPES } from '@hoodcloud/domain/rollout-strategy-name';
import { z } from 'zod';
import { vendorHooksSchema } from './vendor-hook.ts';

/** `sha256:<64 hex>`. */
export const checksumSchema = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be "sha256:" and 64 lower-case hex digits; get it with sha256sum');

/** Name of a file inside an archive: relative, and nowhere outside of it (A11). */
export const archiveMemberSchema = z
  .string()
  .min(1)
  .max(500)
  .refine(isInsideArchive, 'must be the name of a file inside the archive: no "/" at its ends, no "..", no "\\"');

function isInsideArchive(member: string): boolean {
  return !/[\\\0]/.test(member) && member.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** A detached signature of the file behind an artifact's address. */
export const artifactSignatureSchema = z.strictObject({
  format: z.enum(['minisign', 'cosign_bundle']),
  url: z.string().min(1).max(2000),
});

/** One artifact of several: what nodes of one platform download. */
export const platformArtifactSchema = z.strictObject({
  url: z.string().min(1).max(2000),
  checksum: checksumSchema,
  /** Member of an archive to install (A11). */
  member: archiveMemberSchema.optional(),
  signature: artifactSignatureSchema.optional(),
});

/** Artifacts by platform, named as Go does: `linux/amd64`, `linux/arm64`. */
export const platformArtifactsSchema = z
  .record(
    z.string().regex(/^[a-z0-9]{1,20}\/[a-z0-9]{1,20}$/, 'must be a platform such as linux/amd64'),
    platformArtifactSchema,
  )
  .refine((artifacts) => Object.keys(artifacts).length > 0, 'names no platform');

/** One config file that an upgrade changes; template names are files of the chain's templates folder. */
export const configChangeSchema = z.strictObject({
  path: z.string().startsWith('/', 'must be an absolute path'),
  template: z.string().min(1),
  /** E2: `variable_overrides` is accepted too and means the same. */
  overrides: z.record(z.string(), z.string()).optional(),
  variable_overrides: z.record(z.string(), z.string()).optional(),
});

/** What is said once, or for each platform in `artifacts`. */
const TARGET_FIELDS = ['target_url', 'target_checksum', 'target_member', 'target_signature'] as const;

const manifestFields = z.strictObject({
  upgrade_id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/),
  chain_profile_id: z.string().min(1).max(100),
  node_type: z.string().min(1).max(50),
  binary_name: z.string().min(1).max(100),
  target_version: z.string().min(1).max(50),
  /** When the publisher released it; a chain's `trust.minimum_release_age_hours` counts from then. */
  released_at: z.iso.datetime({ offset: true, error: 'must be a time such as 2026-08-21T14:00:00Z' }).optional(),
  target_url: z.string().min(1).optional(),
  target_checksum: checksumSchema.optional(),
  /** Member of an archive to install (A11). */
  target_member: archiveMemberSchema.optional(),
  target_signature: artifactSignatureSchema.optional(),
  /** Instead of the four `target_…` fields above: an artifact for each platform of the fleet. */
  artifacts: platformArtifactsSchema.optional(),
  state_compatibility: z
    .strictObject({ migration_type: z.enum(MIGRATION_TYPES).default('none'), notes: z.string().optional() })
    .default({ migration_type: 'none' }),
  recovery_plan: z.string().optional(),
  config_changes: z.array(configChangeSchema).default([]),
  /** Steps of the vendor in this upgrade, after those of the chain. */
  hooks: vendorHooksSchema,
  drift: z.enum(['fail', 'overwrite']).default('fail'),
  /** What becomes of a link on the way to the binary: the file behind it is replaced, or the link is pointed elsewhere (A8). */
  link: z.enum(['follow', 'replace']).default('follow'),
  /** With `link: replace`, the name of the new version's place; by default `target_version`. For Cosmovisor: the upgrade's. */
  release: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, 'must be safe as the name of a folder')
    .optional(),
});

/** `{ConfigDir}/upgrades/{chain_profile_id}/{upgrade_id}.yaml` (spec "Manifest Loader"). */
export const upgradeManifestSchema = manifestFields
  .refine(...either('target_url'))
  .refine(...either('target_checksum'))
  .refine(...onlyWithout('target_url'))
  .refine(...onlyWithout('target_checksum'))
  .refine(...onlyWithout('target_member'))
  .refine(...onlyWithout('target_signature'))
  // the same for the JSON Schema, which knows no refinements
  .meta({
    oneOf: [
      { required: ['target_url', 'target_checksum'], not: { required: ['artifacts'] } },
      { required: ['artifacts'], not: { anyOf: TARGET_FIELDS.map((field) => ({ required: [field] })) } },
    ],
  });
export type UpgradeManifest = z.infer<typeof upgradeManifestSchema>;

type Fields = z.infer<typeof manifestFields>;
type Rule = [
  (manifest: Fields) => boolean,
  { path: string[]; message: string; when: (payload: { value: unknown }) => boolean },
];

/** Told together with whatever else is wrong, so that one look at the file is enough. */
function told({ value }: { value: unknown }): boolean {
  return typeof value === 'object' && value !== null;
}

/** Without `artifacts` the specification's own fields are required. */
function either(field: 'target_url' | 'target_checksum'): Rule {
  const holds = (manifest: Fields) => manifest.artifacts !== undefined || manifest[field] !== undefined;
  return [holds, { path: [field], message: 'is missing', when: told }];
}

function onlyWithout(field: 'target_url' | 'target_checksum' | 'target_member' | 'target_signature'): Rule {
  const holds = (manifest: Fields) => manifest.artifacts === undefined || manifest[field] === undefined;
  return [holds, { path: [field], message: 'is given for each platform in "artifacts": leave it out', when: told }];
}
