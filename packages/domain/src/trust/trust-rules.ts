import { isAllowedOrigin } from './allowed-origin.ts';

/** What a chain's files demand of a release before it is installed. */
export interface TrustRules {
  /** How old it must be, in milliseconds; null: any age. */
  readonly minimumAgeMs: number | null;
  /** Entries of `trust.allowed_origins`; null: anywhere. */
  readonly allowedOrigins: readonly string[] | null;
  readonly signatureRequired: boolean;
}

/** Whether a chain takes any release. */
export function demandsNothing({ minimumAgeMs, allowedOrigins, signatureRequired }: TrustRules): boolean {
  return minimumAgeMs === null && allowedOrigins === null && !signatureRequired;
}

/** One artifact as far as trust goes. */
export interface TrustedArtifact {
  readonly url: string;
  readonly signed: boolean;
}

/** What a rollout installs, and what its chain demands now. Times are epoch milliseconds. */
export interface TrustFacts {
  readonly rules: TrustRules;
  readonly artifactKind: 'file' | 'image';
  readonly artifacts: readonly TrustedArtifact[];
  /** As the manifest says; null: it doesn't. */
  readonly releasedAt: number | null;
  /** When the control plane was first told to install the newest of its artifacts; null: not known. */
  readonly firstSeenAt: number | null;
}

/** The release's age counts from here, and how that is known. */
export interface AgeStart {
  readonly at: number;
  readonly known: 'released' | 'first seen';
}

/** From when a release's age counts; what nobody knows is as new as can be. */
export function ageStart({ releasedAt, firstSeenAt }: TrustFacts, now: number): AgeStart {
  if (releasedAt !== null) return { at: releasedAt, known: 'released' };
  return { at: firstSeenAt ?? now, known: 'first seen' };
}

/** When the release is old enough; null: it is. */
export function cooldownEnd(facts: TrustFacts, now: number): number | null {
  const { minimumAgeMs } = facts.rules;
  if (minimumAgeMs === null) return null;
  const end = ageStart(facts, now).at + minimumAgeMs;
  return end > now ? end : null;
}

/** Artifacts that come from elsewhere than the chain allows. */
export function foreignArtifacts<Artifact extends TrustedArtifact>(
  { rules, artifactKind }: Pick<TrustFacts, 'rules' | 'artifactKind'>,
  artifacts: readonly Artifact[],
): Artifact[] {
  const { allowedOrigins } = rules;
  if (allowedOrigins === null) return [];
  return artifacts.filter(({ url }) => !isAllowedOrigin(url, artifactKind, allowedOrigins));
}
