import { isAllowedOrigin } from './allowed-origin.ts';

/** What a chain's files demand of a release before it is installed. */
export interface TrustRules {
  /** How old it must be, in milliseconds; null: any age. */
  readonly minimumAgeMs: number | null;
  /** Entries of `trust.allowed_origins`; null: anywhere. */
  readonly allowedOrigins: readonly string[] | null;
  readonly signatureRequired: boolean;
  /** Ids of the minisign keys of which one must have signed the manifest (HOODCLOUD_MANIFEST_KEYS); null: none is demanded. */
  readonly manifestKeys: readonly string[] | null;
  /** `trust.approvals: two_persons`: somebody else than who created a rollout approves it before its first node. */
  readonly twoPersons: boolean;
}

/** The rules of a chain that takes any release. */
export const NO_TRUST_RULES: TrustRules = {
  minimumAgeMs: null,
  allowedOrigins: null,
  signatureRequired: false,
  manifestKeys: null,
  twoPersons: false,
};

/** Whether a chain takes any release. */
export function demandsNothing(rules: TrustRules): boolean {
  const { minimumAgeMs, allowedOrigins, signatureRequired, manifestKeys, twoPersons } = rules;
  return minimumAgeMs === null && allowedOrigins === null && !signatureRequired && manifestKeys === null && !twoPersons;
}

/** One artifact as far as trust goes. */
export interface TrustedArtifact {
  readonly url: string;
  readonly signed: boolean;
}

/** The word of a second person, demanded before the first node. */
export interface StartApproval {
  readonly creator: string;
  /** The first who approved it and is not the creator; null: nobody has. */
  readonly approvedBy: string | null;
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
  /** Id of the key that had signed its manifest when it was created, null: no key had; null as a whole: it has no manifest. */
  readonly manifest: { readonly key: string | null } | null;
  /** null: neither the chain demands it now nor did it when the rollout was created. */
  readonly approval: StartApproval | null;
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

/** Whether the key that signed the manifest counts no longer, or none ever did, though one is demanded. */
export function isSignerUntrusted({ rules: { manifestKeys }, manifest }: TrustFacts): boolean {
  if (manifestKeys === null || manifest === null) return false;
  return manifest.key === null || !manifestKeys.includes(manifest.key);
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
