import type { DecisionContext } from '../decision-context.ts';
import { isoTime } from '../iso-time.ts';
import type { NodeState } from '../node-state.ts';
import { isEndedNode } from '../node-upgrade-status.ts';
import { type Reason, reason } from '../reasons.ts';
import type { RolloutControl } from '../rollout-control.ts';
import { isFailure, wantsAttempt } from '../rollout-rows.ts';
import type { RolloutNodeFacts, RolloutSnapshot } from '../rollout-snapshot.ts';
import { type BatchVerdict, GO, type RolloutStrategy } from './rollout-strategy.ts';

/** The canaries are watched for so many times `health_wait_duration` (spec "Canary"). */
export const OBSERVATION_FACTOR = 2;

/** What proves a canary: anything else, unknown included, never counts as healthy (D3, field-case 95). */
const PROVEN_STATES: readonly NodeState[] = ['healthy', 'syncing'];

/** The rows of the canary batch that were attempted; null when that batch has not ended. */
function endedCanaries({ nodes }: RolloutSnapshot): RolloutNodeFacts[] | null {
  const canaries = nodes.filter((row) => row.batchIndex === 0);
  const ended = canaries.every((row) => isEndedNode(row.status) && !wantsAttempt(row));
  return ended ? canaries.filter((row) => row.status !== 'skipped') : null;
}

function lastEnd(rows: readonly RolloutNodeFacts[]): number {
  return rows.reduce((latest, row) => Math.max(latest, row.endedAt ?? 0), 0);
}

/**
 * Whether an approval counts: the canary batch has ended, and no canary ended after it was given, since a retried canary
 * is another one than the operator has seen (C6).
 */
function approvalCounts(snapshot: RolloutSnapshot, approval: RolloutControl | null): boolean {
  const canaries = endedCanaries(snapshot);
  return approval !== null && canaries !== null && approval.createdAt >= lastEnd(canaries);
}

/** Whether the canary batch has ended, so that it can be approved. */
export function canaryBatchEnded(snapshot: RolloutSnapshot): boolean {
  return endedCanaries(snapshot) !== null;
}

function failedReason(failures: readonly RolloutNodeFacts[]): Reason {
  const ids = failures.map((row) => row.nodeId);
  return reason('canary_failed', { node: ids.join(', ') }, ids);
}

function unhealthyReason(canaries: readonly RolloutNodeFacts[], { fleet }: RolloutSnapshot): Reason | null {
  for (const { nodeId } of canaries) {
    const node = fleet.get(nodeId);
    const state = node === undefined ? 'unknown' : node.online ? node.state : 'offline';
    if (!(PROVEN_STATES as readonly string[]).includes(state)) {
      return reason('canary_unhealthy', { node: nodeId, state }, [nodeId]);
    }
  }
  return null;
}

/** Whether a later batch has begun since the canaries ended: then they had their verdict. */
function isPast(canaries: readonly RolloutNodeFacts[], { nodes }: RolloutSnapshot): boolean {
  const ended = lastEnd(canaries);
  return nodes.some((row) => row.batchIndex > 0 && row.attemptCount > 0 && (row.startedAt ?? 0) >= ended);
}

/** Judges canaries that have ended and whose verdict is still due. */
function judge(canaries: readonly RolloutNodeFacts[], { snapshot, controls, now }: DecisionContext): BatchVerdict {
  const acknowledgedAt = controls.resume?.createdAt ?? Number.NEGATIVE_INFINITY;
  const failures = canaries.filter((row) => isFailure(row));
  const unseen = failures.filter((row) => (row.endedAt ?? 0) > acknowledgedAt);
  // Nothing more can be learned by watching on, so a failure stops at once.
  if (unseen.length > 0) return { kind: 'stop', reason: failedReason(unseen) };
  const proven = canaries.filter((row) => row.status === 'succeeded');
  if (proven.length === 0) {
    const acknowledged = controls.resume !== null && acknowledgedAt >= lastEnd(canaries);
    return acknowledged ? GO : { kind: 'stop', reason: reason('canary_not_proven') };
  }
  const until = lastEnd(canaries) + OBSERVATION_FACTOR * snapshot.rollout.healthWaitMs;
  if (now < until) {
    return { kind: 'wait', reasons: [reason('canary_observation', { until: isoTime(until) })], until };
  }
  const unhealthy = acknowledgedAt >= until ? null : unhealthyReason(proven, snapshot);
  return unhealthy ? { kind: 'stop', reason: unhealthy } : GO;
}

/** The reason of a pause that stands, with the facts of now; null when the code is not one of the canaries'. */
export function canaryPauseReason(code: string, { snapshot }: Pick<DecisionContext, 'snapshot'>): Reason | null {
  const canaries = snapshot.nodes.filter((row) => row.batchIndex === 0);
  if (code === 'canary_failed') return failedReason(canaries.filter(isFailure));
  if (code === 'canary_not_proven') return reason(code);
  if (code === 'canary_unhealthy') return unhealthyReason(canaries, snapshot) ?? reason(code);
  return null;
}

/** Who has to do what before the second batch. */
function approvalMissing({ approvalBarredFor }: RolloutSnapshot['rollout']): Reason[] {
  const waiting = reason('waiting_for_approval');
  return approvalBarredFor ? [waiting, reason('second_person_needed', { creator: approvalBarredFor })] : [waiting];
}

/** `canary_size` random nodes first, watched; then the rest as `rolling`. A breaking migration needs a person's approval. */
export const canary: RolloutStrategy = {
  hasCanaries: true,
  inOneBatch: false,
  shuffled: true,
  stopsOnHaltedChain: true,
  beforeBatch: (context, batchIndex) => {
    if (batchIndex === 0) return GO;
    const { snapshot, controls } = context;
    const canaries = endedCanaries(snapshot);
    // A canary whose retry is wanted is not proven yet; the gates say why it has not started.
    if (canaries === null) return { kind: 'wait', reasons: [], until: null };
    const verdict = isPast(canaries, snapshot) ? GO : judge(canaries, context);
    if (verdict.kind !== 'go' || snapshot.rollout.migrationType !== 'breaking') return verdict;
    if (approvalCounts(snapshot, controls.approval)) return GO;
    return { kind: 'wait', reasons: approvalMissing(snapshot.rollout), until: null };
  },
};
