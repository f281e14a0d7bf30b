import { type DecisionContext, isForced } from './decision-context.ts';
import { FAILURE_CLASSES, type FailureClass } from './failure-class.ts';
import { type Reason, reason } from './reasons.ts';
import type { RolloutControl } from './rollout-control.ts';
import { isFailure } from './rollout-rows.ts';
import type { RolloutFacts, RolloutNodeFacts } from './rollout-snapshot.ts';

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

/**
 * The rows that the threshold judges: all of them, unless the rollout tells classes of failures apart. Then failures of the
 * infrastructure are no evidence about the release, neither as failures nor as attempts.
 */
function judgedRows(rows: readonly RolloutNodeFacts[], { failureClasses }: Pick<RolloutFacts, 'failureClasses'>) {
  if (!failureClasses) return rows;
  return rows.filter((row) => !isFailure(row) || row.failureClass !== 'infrastructure');
}

/** What the threshold of this rollout compares now. */
export function judgedFailures(
  rows: readonly RolloutNodeFacts[],
  rollout: Pick<RolloutFacts, 'failureClasses'>,
  resume: RolloutControl | null,
): FailureCounts {
  return countFailures(judgedRows(rows, rollout), resume);
}

/** What a class of failures is, as people read it. */
const CLASS_TEXTS: Readonly<Record<FailureClass, string>> = {
  artifact: 'the artifact (download, checksum, signature or dry start): the release itself is not usable',
  node: 'their own: they did not bear the release',
  infrastructure: 'what surrounds them: agent, disk, network or deadline',
  state: 'an undo that failed: a person must look at them',
};

/**
 * The class of failures of which there are more than the rollout bears, null when there is none or it does not tell them
 * apart. However few were attempted: one broken artifact proves what a share can't.
 */
export function classReason({ snapshot, controls }: DecisionContext): Reason | null {
  const limits = snapshot.rollout.failureClasses;
  if (!limits) return null;
  for (const kind of FAILURE_CLASSES) {
    if (kind === 'node') continue;
    const rows = snapshot.nodes.filter((row) => isFailure(row) && row.failureClass === kind);
    const since = controls.resume?.createdAt ?? Number.NEGATIVE_INFINITY;
    const failed = rows.filter(({ endedAt }) => (endedAt ?? 0) > since);
    if (failed.length <= limits[kind]) continue;
    const params = { class: kind, failed: failed.length, limit: limits[kind], by: CLASS_TEXTS[kind] };
    return reason(
      'failure_class_limit',
      params,
      failed.map(({ nodeId }) => nodeId),
    );
  }
  return null;
}

/** Reason of a breach of the ratio, with the numbers of now. */
export function ratioReason({ snapshot, controls }: DecisionContext): Reason {
  const { attempted, failed } = judgedFailures(snapshot.nodes, snapshot.rollout, controls.resume);
  return reason('failure_threshold_exceeded', { failed, attempted, threshold: snapshot.rollout.failureThreshold });
}

/** Reason of a breach of the absolute limit, with the numbers of now. */
export function maxFailuresReason({ snapshot, controls }: DecisionContext): Reason {
  const { failed } = judgedFailures(snapshot.nodes, snapshot.rollout, controls.resume);
  return reason('max_failures_exceeded', { failed, limit: snapshot.rollout.maxFailures ?? 0 });
}

/**
 * Why too many nodes failed, null when they did not (C5). Judged over the whole rollout and whenever a node ends, not
 * only at the end of a batch (field-case 80). `force` overrides it.
 */
export function thresholdBreach(context: DecisionContext): Reason | null {
  if (isForced(context)) return null;
  const { failureThreshold, maxFailures, minAttempted } = context.snapshot.rollout;
  const ofClass = classReason(context);
  if (ofClass) return ofClass;
  const { snapshot, controls } = context;
  const { attempted, failed } = judgedFailures(snapshot.nodes, snapshot.rollout, controls.resume);
  if (failed === 0) return null;
  if (maxFailures !== null && failed > maxFailures) return maxFailuresReason(context);
  if (attempted >= minAttempted && failed / attempted > failureThreshold) return ratioReason(context);
  return null;
}
