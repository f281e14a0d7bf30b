import type { ChainProfile, ChainRuntime } from '@hoodcloud/contracts/files/chain-profile';
import type { FieldError } from '@hoodcloud/contracts/http/problem';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import type { ArtifactKind } from '@hoodcloud/domain/rollout-rules';
import type { MigrationType } from '@hoodcloud/domain/rollout-strategy-name';
import type { TrustRules } from '@hoodcloud/domain/trust/trust-rules';
import type { VendorHook } from '@hoodcloud/domain/vendor-hook';
import type { StoredConfigChange } from '../config-rendering/stored-config-change.ts';
import type { ChainFiles } from '../manifests/chain-files.ts';
import { ConfigFileNotFoundError, UnsafeNameError } from '../manifests/config-dir.ts';
import type { ManifestReader } from '../manifests/manifest-reader.ts';
import { trustRulesOf } from './chain-start.ts';
import { originProblems } from './release-trust.ts';
import { dutyQuestions, hookProblems, hooksOf } from './rollout-hooks.ts';
import { firstOf, missingSignatures, type NamedArtifacts, targetArtifacts } from './target-artifacts.ts';

/** The files a rollout is made from. */
export interface RolloutFiles {
  readonly chains: Pick<ChainFiles, 'profile' | 'runtime' | 'template'>;
  readonly manifests: Pick<ManifestReader, 'get'>;
}

/** What an upgrade is, whether a manifest said so (auto mode) or the request (manual mode). */
export interface UpgradeFacts extends NamedArtifacts {
  readonly binary_name: string | null;
  readonly target_version: string | null;
  readonly manifest_content_hash: string | null;
  readonly migration_type: MigrationType;
  readonly recovery_plan: string | null;
  readonly drift_policy: 'fail' | 'overwrite';
  readonly link_policy: 'follow' | 'replace';
  /** Steps of the vendor, the chain's and the manifest's. */
  readonly hooks: readonly VendorHook[];
  readonly release_name: string | null;
  /** When the manifest says it was released; null: it doesn't. */
  readonly released_at: Date | null;
  /** Id of the minisign key that signed the manifest; null: no signature is demanded, or there is no manifest. */
  readonly manifest_key: string | null;
}

/** A rollout that someone wants, manifest and defaults filled in, and what is wrong with it so far. */
export interface RolloutDraft {
  readonly request: CreateRolloutRequest;
  readonly upgrade: UpgradeFacts;
  readonly artifactKind: ArtifactKind;
  readonly healthWaitMs: number;
  /** The chain's profile wants a second person for a breaking migration. */
  readonly twoPersonApproval: boolean;
  /** The chain's profile wants a second person before the first node of any rollout. */
  readonly startApproval: boolean;
  readonly configChanges: readonly StoredConfigChange[];
  /** What the chain demands of a release. */
  readonly trust: TrustRules;
  readonly problems: readonly FieldError[];
}

type WantedChange = NonNullable<CreateRolloutRequest['config_changes']>[number];

/** Fields that the manifest gives in auto mode; the request must not say something else. */
const GIVEN_BY_MANIFEST = [
  'binary_name',
  'target_version',
  'target_binary_url',
  'target_binary_checksum',
  'target_artifact_member',
  'migration_type',
  'manifest_content_hash',
] as const;

/**
 * Fills a request from its manifest, the chain's profile and the templates (spec "Manifest Loader").
 * @throws ConfigFileNotFoundError for a missing manifest or profile, FileFormatError for one that is wrong
 */
export async function draftRollout(files: RolloutFiles, request: CreateRolloutRequest): Promise<RolloutDraft> {
  const { profile } = await files.chains.profile(request.chain_profile_id);
  const {
    upgrade: wanted,
    changes,
    problems,
  } = request.upgrade_id === undefined
    ? manualUpgrade(request, await files.chains.runtime(request.chain_profile_id))
    : await upgradeOfManifest(files, request, request.upgrade_id);
  const hooks = [...wanted.hooks, ...dutyQuestions(profile, wanted.binary_name)];
  const upgrade: UpgradeFacts = { ...wanted, hooks };
  const binary = profile.binaries.find(({ name }) => name === upgrade.binary_name);
  const artifactKind = binary?.artifact_kind ?? 'file';
  const configs = await readTemplates(files, profile, changes);
  const runtime = await files.chains.runtime(request.chain_profile_id);
  const trust = trustRulesOf(profile, runtime, upgrade.binary_name ?? '');
  return {
    request,
    upgrade,
    artifactKind,
    healthWaitMs: request.health_wait_ms ?? profile.health.health_wait_seconds * 1000,
    twoPersonApproval: profile.two_person_approval && upgrade.migration_type === 'breaking',
    startApproval: trust.twoPersons,
    configChanges: configs.changes,
    trust,
    problems: [
      ...problems,
      ...profileProblems(request, upgrade, profile),
      ...signatureProblems(trust, upgrade, artifactKind),
      ...originProblems(trust, artifactKind, upgrade),
      ...configs.problems,
      ...lateProblems(request),
      ...hookProblems(upgrade.hooks, { acknowledged: request.acknowledge_state_risk }),
    ],
  };
}

interface Source {
  readonly upgrade: UpgradeFacts;
  readonly changes: readonly WantedChange[];
  readonly problems: readonly FieldError[];
}

function manualUpgrade(request: CreateRolloutRequest, runtime: ChainRuntime | null): Source {
  const required = ['binary_name', 'source_version', 'target_version', 'target_binary_url'] as const;
  const { artifacts } = request;
  const missing = required.filter(
    (field) => request[field] === undefined && !(field === 'target_binary_url' && artifacts),
  );
  return {
    upgrade: {
      binary_name: request.binary_name ?? null,
      target_version: request.target_version ?? null,
      ...(artifacts
        ? firstOf(artifacts)
        : {
            target_binary_url: request.target_binary_url ?? null,
            target_binary_checksum: request.target_binary_checksum ?? '',
            target_artifact_member: request.target_artifact_member ?? null,
            target_artifact_signature: request.target_artifact_signature ?? null,
            artifacts: null,
          }),
      manifest_content_hash: request.manifest_content_hash ?? null,
      migration_type: request.migration_type ?? 'none',
      recovery_plan: request.recovery_plan ?? null,
      drift_policy: request.drift_policy ?? 'fail',
      link_policy: 'follow',
      hooks: hooksOf(runtime, request.binary_name ?? '', []),
      release_name: null,
      released_at: null,
      manifest_key: null,
    },
    changes: request.config_changes ?? [],
    problems: missing.map((field) => ({
      field,
      code: 'missing',
      message: `Give ${field}, or upgrade_id so that the manifest gives it.`,
    })),
  };
}

async function upgradeOfManifest(
  { manifests, chains }: RolloutFiles,
  request: CreateRolloutRequest,
  upgradeId: string,
): Promise<Source> {
  const runtime = await chains.runtime(request.chain_profile_id);
  const { manifest, contentHash, file, signedBy } = await manifests.get(request.chain_profile_id, upgradeId);
  const upgrade: UpgradeFacts = {
    binary_name: manifest.binary_name,
    target_version: manifest.target_version,
    ...(manifest.artifacts
      ? firstOf(manifest.artifacts)
      : {
          target_binary_url: manifest.target_url ?? null,
          target_binary_checksum: manifest.target_checksum ?? '',
          target_artifact_member: manifest.target_member ?? null,
          target_artifact_signature: manifest.target_signature ?? null,
          artifacts: null,
        }),
    manifest_content_hash: contentHash,
    migration_type: manifest.state_compatibility.migration_type,
    recovery_plan: manifest.recovery_plan ?? request.recovery_plan ?? null,
    drift_policy: request.drift_policy ?? manifest.drift,
    link_policy: manifest.link,
    hooks: hooksOf(runtime, manifest.binary_name, manifest.hooks),
    release_name: manifest.link === 'replace' ? (manifest.release ?? manifest.target_version) : null,
    released_at: manifest.released_at === undefined ? null : new Date(manifest.released_at),
    manifest_key: signedBy,
  };
  const problems: FieldError[] = GIVEN_BY_MANIFEST.filter(
    (field) => request[field] !== undefined && request[field] !== upgrade[field],
  ).map((field) => ({
    field,
    code: 'given_by_manifest',
    message: `${file} says ${upgrade[field]}: leave ${field} out.`,
  }));
  for (const field of ['artifacts', 'target_artifact_signature'] as const) {
    if (request[field] === undefined) continue;
    problems.push({ field, code: 'given_by_manifest', message: `${file} says what is installed: leave ${field} out.` });
  }
  if (request.config_changes !== undefined) {
    const message = `${file} says which configs change: leave config_changes out.`;
    problems.push({ field: 'config_changes', code: 'given_by_manifest', message });
  }
  if (manifest.node_type !== request.node_type) {
    const message = `${file} is for nodes of type ${manifest.node_type}.`;
    problems.push({ field: 'node_type', code: 'node_type_mismatch', message });
  }
  return { upgrade, changes: manifest.config_changes, problems };
}

/** Signatures that the chain demands are missed here, before there is a rollout. */
function signatureProblems(
  { signatureRequired }: TrustRules,
  upgrade: UpgradeFacts,
  artifactKind: ArtifactKind,
): readonly FieldError[] {
  if (!signatureRequired) return [];
  if (artifactKind === 'file') return missingSignatures(targetArtifacts(upgrade));
  const message = `Signatures of images are not checked: set "policy: off" for ${upgrade.binary_name} in binaries of the chain's runtime.yaml; its digest pins the image.`;
  return [{ field: 'binary_name', code: 'signature_unsupported', message }];
}

/** What was made ready ahead for a node that is left out is taken away again, so it can't come after all. */
function lateProblems({ late_nodes, stage }: CreateRolloutRequest): FieldError[] {
  if (late_nodes === 'ignore' || !stage) return [];
  const message = 'Late nodes can not be taken where every node makes ready ahead: leave out late_nodes or stage.';
  return [{ field: 'late_nodes', code: 'late_nodes_with_stage', message }];
}

function profileProblems(request: CreateRolloutRequest, upgrade: UpgradeFacts, profile: ChainProfile): FieldError[] {
  const problems: FieldError[] = [];
  if (!profile.node_types.includes(request.node_type)) {
    const message = `The chain has no node type "${request.node_type}"; it knows ${profile.node_types.join(', ')}.`;
    problems.push({ field: 'node_type', code: 'unknown_node_type', message });
  }
  const names = profile.binaries.map(({ name }) => name);
  if (upgrade.binary_name !== null && !names.includes(upgrade.binary_name)) {
    const message = `The chain has no binary "${upgrade.binary_name}"; it knows ${names.join(', ')}.`;
    problems.push({ field: 'binary_name', code: 'unknown_binary', message });
  }
  return problems;
}

/** Takes the templates' text into the rollout, so that it keeps what it was created with (E3). */
async function readTemplates(
  { chains }: RolloutFiles,
  profile: ChainProfile,
  wanted: readonly WantedChange[],
): Promise<{ changes: StoredConfigChange[]; problems: FieldError[] }> {
  const changes: StoredConfigChange[] = [];
  const problems: FieldError[] = [];
  for (const [index, { path, template, overrides, variable_overrides }] of wanted.entries()) {
    try {
      const text = await chains.template(profile.chain_profile_id, template);
      const { variables, secret_variables } = profile;
      const all = { ...variable_overrides, ...overrides };
      changes.push({ path, template, text, variables, overrides: all, secret_variables });
    } catch (error) {
      if (!(error instanceof ConfigFileNotFoundError || error instanceof UnsafeNameError)) throw error;
      problems.push({ field: `config_changes.${index}.template`, code: error.code, message: error.message });
    }
  }
  return { changes, problems };
}
