import type { UpgradeManifest } from '@hoodcloud/contracts/files/upgrade-manifest';
import type { FieldError } from '@hoodcloud/contracts/http/problem';
import type { ArtifactSignature, TargetArtifact, TargetArtifacts } from '@hoodcloud/domain/target-artifact';

/** How manifests, requests and the column `rollouts.artifacts` write artifacts by platform. */
export type WrittenArtifacts = NonNullable<UpgradeManifest['artifacts']>;

/** What a rollout installs, as its row or its draft names it. `artifacts` wins; the others then name its first one. */
export interface NamedArtifacts {
  readonly target_binary_url: string | null;
  readonly target_binary_checksum: string;
  readonly target_artifact_member: string | null;
  readonly target_artifact_signature: unknown;
  readonly artifacts: unknown;
}

/** What a rollout installs. */
export function targetArtifacts(named: NamedArtifacts): TargetArtifacts {
  if (named.artifacts !== null) {
    const entries = Object.entries(named.artifacts as WrittenArtifacts);
    return {
      kind: 'by_platform',
      artifacts: Object.fromEntries(entries.map(([name, one]) => [name, artifactOf(one)])),
    };
  }
  return {
    kind: 'one',
    artifact: {
      url: named.target_binary_url ?? '',
      checksum: named.target_binary_checksum,
      member: named.target_artifact_member,
      signature: named.target_artifact_signature as ArtifactSignature | null,
    },
  };
}

/** The `target_…` fields of a rollout by platform: those of its first artifact, so that they are never empty. */
export function firstOf(artifacts: WrittenArtifacts): NamedArtifacts {
  const first = Object.values(artifacts)[0];
  return {
    target_binary_url: first?.url ?? null,
    target_binary_checksum: first?.checksum ?? '',
    target_artifact_member: first?.member ?? null,
    target_artifact_signature: first?.signature ?? null,
    artifacts,
  };
}

/** Every artifact with the field that names it, for messages. */
export function fieldsOf(targets: TargetArtifacts): { field: string | null; artifact: TargetArtifact }[] {
  if (targets.kind === 'one') return [{ field: null, artifact: targets.artifact }];
  return Object.entries(targets.artifacts).map(([platform, artifact]) => ({
    field: `artifacts.${platform}`,
    artifact,
  }));
}

/** A chain that demands signatures gets no rollout without them: found when it is created, not on a host. */
export function missingSignatures(targets: TargetArtifacts): FieldError[] {
  return fieldsOf(targets).flatMap(({ field, artifact }) =>
    artifact.signature === null
      ? [
          {
            field: field === null ? 'target_artifact_signature' : `${field}.signature`,
            code: 'signature_missing',
            message: `The chain's runtime.yaml demands signatures: say where that of ${artifact.url} is.`,
          },
        ]
      : [],
  );
}

function artifactOf({ url, checksum, member, signature }: WrittenArtifacts[string]): TargetArtifact {
  return { url, checksum, member: member ?? null, signature: signature ?? null };
}
