import { isoTime } from '../iso-time.ts';
import { type Reason, reason } from '../reasons.ts';
import type { RolloutSnapshot } from '../rollout-snapshot.ts';
import { isOverridden, type RuleOverride } from '../rule-override.ts';
import { ageStart, cooldownEnd, foreignArtifacts, isSignerUntrusted, type TrustFacts } from '../trust/trust-rules.ts';
import { type Hold, OPEN, type StartGate, wait } from './start-gate.ts';

const HOUR_MS = 3_600_000;

/**
 * The chain's trust rules, asked again before the first node of a rollout: they may be stricter than when it was created,
 * and a release grows old enough meanwhile. Once a node has begun they are not asked, nor on the way back.
 */
export const trust: StartGate = ({ purpose }, { snapshot, now }) => {
  const facts = snapshot.trust ?? null;
  return facts === null || hasBegun(snapshot) || purpose === 'rollback' ? OPEN : wait(...trustHolds(facts, now));
};

/** Whether the rollout stands before its first node and still misses the word of a second person. */
export function startApprovalDue(snapshot: RolloutSnapshot): boolean {
  const { direction } = snapshot.rollout;
  return direction === 'upgrade' && approvalHold(snapshot.trust ?? null) !== null && !hasBegun(snapshot);
}

function hasBegun({ nodes }: RolloutSnapshot): boolean {
  return nodes.some(({ attemptCount }) => attemptCount > 0);
}

/** Whether nothing that the chain's rules have against the release is left, once what people set aside is left out. */
export function trustStands(facts: TrustFacts, overrides: readonly RuleOverride[], now: number): boolean {
  return trustHolds(facts, now).every(({ rule }) => rule !== undefined && isOverridden(rule, overrides, now));
}

/**
 * Everything that the chain's rules have against the release now. A signature can't be set aside: hosts demand it too. An approval
 * neither: whoever may set it aside may give it.
 */
function trustHolds(facts: TrustFacts, now: number): Hold[] {
  const { rules, artifacts } = facts;
  const holds: Hold[] = [];
  const unsigned = rules.signatureRequired ? artifacts.filter(({ signed }) => !signed) : [];
  if (unsigned.length > 0) holds.push({ reason: reason('signature_demanded', { url: listed(unsigned) }) });
  if (isSignerUntrusted(facts)) {
    const signer = facts.manifest?.key ?? null;
    const who = signer === null ? 'no key' : `minisign key ${signer}`;
    holds.push({ reason: reason('manifest_signer_untrusted', { signer: who }) });
  }
  const foreign = foreignArtifacts(facts, artifacts);
  if (foreign.length > 0) {
    const why = reason('origin_not_allowed', { url: listed(foreign) });
    holds.push({ reason: why, rule: { name: 'trust/origin', persons: 2 } });
  }
  const tooYoung = cooldownReason(facts, now);
  if (tooYoung !== null) holds.push({ ...tooYoung, rule: { name: 'trust/cooldown', persons: 2 } });
  const approval = approvalHold(facts);
  if (approval !== null) holds.push(approval);
  return holds;
}

function approvalHold(facts: TrustFacts | null): Hold | null {
  const { approval = null } = facts ?? {};
  if (approval === null || approval.approvedBy !== null) return null;
  return { reason: reason('start_approval_needed', { creator: approval.creator }) };
}

/** Why a release is too young, and until when; null: it is old enough. */
export function cooldownReason(facts: TrustFacts, now: number): { reason: Reason; until: number } | null {
  const until = cooldownEnd(facts, now);
  if (until === null) return null;
  const { at, known } = ageStart(facts, now);
  const hours = Math.round(((facts.rules.minimumAgeMs ?? 0) / HOUR_MS) * 100) / 100;
  const params = { known, since: isoTime(at), hours, until: isoTime(until) };
  return { reason: reason('release_too_young', params), until };
}

function listed(artifacts: readonly { readonly url: string }[]): string {
  return artifacts.map(({ url }) => url).join(', ');
}
