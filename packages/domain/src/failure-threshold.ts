import { type DecisionContext, isForced } from './decision-context.ts';
import { type Reason, reason } from './reasons.ts';
import type { RolloutControl } from './rollout-control.ts';
import { isFailure } from './rollout-rows.ts';
import type { RolloutNodeFacts } from './rollout-snapshot.ts';

/** What the threshold compares (C5). */
export interface FailureCounts {
  /** Rows of which an attempt has begun; skipped and offline ones are not among them. */
  readonly attempted: number;
  /** Failures that no resume has acknowledged. */
  readonly failed: number;
}

/**
 * Counts attempted nodes and failures since the latest resume.
 * A resume carries the count it acknowledged, but a node that was retried since may have left that count while another
 * one failed, so failures that ended after the resume are counted too and the greater number stands.
 */
export function countFailures(rows: readonly RolloutNodeFacts[], resume: RolloutControl | null): FailureCounts {
  const attempted = rows.filter((row) => row.attemptCount > 0).length;
  const failures = rows.filter(isFailure);
  if (resume === null) return { attempted, failed: failures.length };
  const later = failures.filter((row) => (row.endedAt ?? 0) > resume.createdAt).length;
  const beyond = resume.failuresAcknowledged === null ? 0 : failures.length - resume.failuresAcknowledged;
  return { attempted, failed: Math.max(later, beyond) };
}

/** Reason of a breach of the ratio, with the numbers of now. */
export function ratioReason({ snapshot, controls }: DecisionContext): Reason {
  const { attempted, failed } = countFailures(snapshot.nodes, controls.resume);
  return reason('failure_threshold_exceeded', { failed, attempted, threshold: snapshot.rollout.failureThreshold });
}

/** Reason of a breach of the absolute limit, with the numbers of now. */
export function maxFailuresReason({ snapshot, controls }: DecisionContext): Reason {
  const { failed } = countFailures(snapshot.nodes, controls.resume);
  return reason('max_failures_exceeded', { failed, limit: snapshot.rollout.maxFailures ?? 0 });
}

/**
 * Why too many nodes failed, null when they did not (C5). Judged over the whole rollout and whenever a node ends, not
 * only at the end of a batch (field-case 80). `force` overrides it.
 */
export function thresholdBreach(context: DecisionContext): Reason | null {
  if (isForced(context)) return null;
  const { failureThreshold, maxFailures, minAttempted } = context.snapshot.rollout;
  const { attempted, failed } = countFailures(context.snapshot.nodes, context.controls.resume);
  if (failed === 0) return null;
  if (maxFailures !== null && failed > maxFailures) return maxFailuresReason(context);
  if (attempted >= minAttempted && failed / attempted > failureThreshold) return ratioReason(context);
  return null;
}
