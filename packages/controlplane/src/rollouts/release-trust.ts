import type { FieldError } from '@hoodcloud/contracts/http/problem';
import { bareSha256 } from '@hoodcloud/domain/checksum';
import type { ArtifactKind } from '@hoodcloud/domain/rollout-rules';
import {
  foreignArtifacts,
  type StartApproval,
  type TrustFacts,
  type TrustRules,
} from '@hoodcloud/domain/trust/trust-rules';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { fieldsOf, type NamedArtifacts, targetArtifacts } from './target-artifacts.ts';

/** What trust asks of a rollout, as its row or its draft names it. */
export interface TrustedRelease extends NamedArtifacts {
  readonly artifact_kind: ArtifactKind;
  readonly released_at: Date | null;
  /** null: without a manifest. */
  readonly upgrade_id: string | null;
  readonly manifest_key: string | null;
}

/** The facts of a release that the trust rules are judged by, when it was first seen included. @param approval the second person's word */
export async function loadTrust(
  db: Db,
  rules: TrustRules,
  release: TrustedRelease,
  approval: StartApproval | null = null,
): Promise<TrustFacts> {
  const artifacts = fieldsOf(targetArtifacts(release)).map(({ artifact }) => artifact);
  return {
    rules,
    artifactKind: release.artifact_kind,
    artifacts: artifacts.map(({ url, signature }) => ({ url, signed: signature !== null })),
    releasedAt: release.released_at?.getTime() ?? null,
    firstSeenAt: await firstSeen(db, checksumsOf(release)),
    manifest: release.upgrade_id === null ? null : { key: release.manifest_key },
    approval,
  };
}

/** When the newest of the artifacts was first seen; null when one of them never was. */
async function firstSeen(db: Db, checksums: readonly string[]): Promise<number | null> {
  const rows = await db
    .selectFrom('seen_artifacts')
    .select('first_seen_at')
    .where('checksum', '=', sql<string>`any(${[...checksums]}::text[])`)
    .execute();
  if (rows.length === 0 || rows.length < checksums.length) return null;
  return Math.max(...rows.map(({ first_seen_at }) => first_seen_at.getTime()));
}

/** Notes that somebody wants these artifacts installed; the first time counts. */
export async function noteSeen(tx: Db, named: NamedArtifacts): Promise<void> {
  const rows = checksumsOf(named).map((checksum) => ({ checksum }));
  if (rows.length === 0) return;
  await tx
    .insertInto('seen_artifacts')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Sorted, so that two who note the same ones don't wait for each other in a circle. */
function checksumsOf(named: NamedArtifacts): string[] {
  const all = fieldsOf(targetArtifacts(named)).map(({ artifact }) => bareSha256(artifact.checksum));
  return [...new Set(all)].filter((checksum) => checksum !== '').sort();
}

/** Artifacts from elsewhere than the chain allows: a rollout of them is never created. Its age is waited for instead. */
export function originProblems(rules: TrustRules, artifactKind: ArtifactKind, named: NamedArtifacts): FieldError[] {
  const artifacts = fieldsOf(targetArtifacts(named)).map(({ field, artifact }) => ({
    field: field === null ? 'target_binary_url' : `${field}.url`,
    url: artifact.url,
    signed: artifact.signature !== null,
  }));
  const given = artifacts.filter(({ url }) => url !== '');
  return foreignArtifacts({ rules, artifactKind }, given).map(({ field, url }) => ({
    field,
    code: 'origin_not_allowed',
    message: `${url} is not from an origin that the chain allows (trust.allowed_origins: ${(rules.allowedOrigins ?? []).join(', ')}).`,
  }));
}
