import type { DecisionContext } from './decision-context.ts';
import { drain, earliest, underwayCount, underwayReasons } from './drain.ts';
import { thresholdBreach } from './failure-threshold.ts';
import { type Reason, type ReasonCode, reason } from './reasons.ts';
import type { RolloutDecision } from './rollout-decision.ts';
import { earliestOfferLapse, isFailure, isOffered, isSettled, wantsAttempt } from './rollout-rows.ts';
import type { RolloutNodeFacts } from './rollout-snapshot.ts';
import { type BatchVerdict, GO } from './rollout-strategy/rollout-strategy.ts';
import { STRATEGIES } from './rollout-strategy/strategies.ts';
import { standingPause } from './standing-pause.ts';
import type { StartCandidate } from './start-gates/start-gate.ts';
import { type GateSelection, selectStarts } from './start-gates/start-gates.ts';

const NOTHING: GateSelection = { chosen: [], waiting: [], stop: null, until: null };

/** Rows whose attempt is wanted and not offered, in the order in which they start. */
function startable(context: DecisionContext, accept: (row: RolloutNodeFacts) => boolean): RolloutNodeFacts[] {
  return context.snapshot.nodes.filter((row) => wantsAttempt(row) && !isOffered(row, context.now) && accept(row));
}

/**
 * Retries that a person ordered start whatever their batch, and while the rollout is paused or over (C8). One that was
 * ordered on the way up is not begun on the way back, nor after it.
 */
export function selectRetries(context: DecisionContext): GateSelection {
  const { direction } = context.snapshot.rollout;
  const rows = startable(context, (row) => row.status !== 'pending' && row.attemptDirection === direction);
  return selectStarts(
    rows.map((row): StartCandidate => ({ row, purpose: 'retry' })),
    context,
  );
}

/** The lowest batch with a row that has not ended; null when every row has. `retried` counts as not ended. */
export function currentBatch({ snapshot, now }: DecisionContext, retried: ReadonlySet<string>): number | null {
  let current: number | null = null;
  for (const row of snapshot.nodes) {
    const open = !isSettled(row, now) || retried.has(row.nodeId);
    if (open && (current === null || row.batchIndex < current)) current = row.batchIndex;
  }
  return current;
}

interface Turn {
  readonly verdict: BatchVerdict;
  readonly selection: GateSelection;
}

/** What the current batch may start now. Batches are sequential: the next one begins when all before have ended. */
function takeTurn(context: DecisionContext, retries: GateSelection): Turn {
  const retried = new Set(retries.chosen.map((node) => node.nodeId));
  const batch = currentBatch(context, retried);
  if (batch === null) return { verdict: GO, selection: NOTHING };
  const verdict = STRATEGIES[context.snapshot.rollout.strategy].beforeBatch(context, batch);
  if (verdict.kind !== 'go') return { verdict, selection: NOTHING };
  const rows = startable(context, (row) => row.status === 'pending' && row.batchIndex === batch);
  const candidates = rows.map((row): StartCandidate => ({ row, purpose: 'first' }));
  return { verdict, selection: selectStarts(candidates, context, retries.chosen) };
}

/** Pauses that mean "this release fails here"; a person's pause and a halted chain do not. */
const FAILURES: readonly ReasonCode[] = [
  'failure_threshold_exceeded',
  'max_failures_exceeded',
  'failure_class_limit',
  'canary_failed',
  'canary_not_proven',
  'canary_unhealthy',
];

/**
 * Where a rollout stands still because of `hold`: paused, until a person decides. Inside a group whose policy decides
 * instead, nobody is asked and a failing rollout has failed (C4).
 */
function standStill({ snapshot }: DecisionContext, hold: Reason, reasons: readonly Reason[]): RolloutDecision {
  const policy = snapshot.rollout.groupFailurePolicy ?? 'manual';
  if (policy !== 'manual' && FAILURES.includes(hold.code)) return { kind: 'finish', status: 'failed', reason: hold };
  return { kind: 'pause', status: 'paused', reason: hold, reasons };
}

/**
 * Nothing new starts because of `hold`: what runs ends, retries go on, then the rollout stands still.
 * @param others what else holds nodes whose turn it is: it is there still when `hold` is gone
 */
function holdBack(
  context: DecisionContext,
  hold: Reason,
  retries: GateSelection,
  others: readonly Reason[] = [],
): RolloutDecision {
  const status = context.snapshot.rollout.status === 'paused' ? 'paused' : 'running';
  const reasons = [hold, ...retries.waiting, ...others];
  if (retries.chosen.length > 0) return { kind: 'run', status, nodes: retries.chosen, reasons };
  const pausing = status === 'paused' ? [] : [reason('pausing', { count: underwayCount(context) })];
  return drain(context, status, [...pausing, ...reasons], standStill(context, hold, reasons), retries.until);
}

/** The end of an upgrade whose nodes have all ended within the threshold, or were forced or acknowledged (C4). */
function finish({ snapshot: { nodes } }: DecisionContext): RolloutDecision {
  const count = (accept: (row: RolloutNodeFacts) => boolean) => nodes.filter(accept).length;
  const skipped = nodes.filter((row) => row.status === 'skipped');
  const nothingToDo = skipped.every((row) => row.statusReason === 'already_at_target');
  // Done with nothing done is no success, unless everything ran the target already (field-case 84).
  if (skipped.length === nodes.length && !(nodes.length > 0 && nothingToDo)) {
    return { kind: 'finish', status: 'failed', reason: reason('no_eligible_targets') };
  }
  const counts = {
    succeeded: count((row) => row.status === 'succeeded'),
    failed: count(isFailure),
    skipped: skipped.length,
  };
  return { kind: 'finish', status: 'completed', reason: reason('all_nodes_ended', counts) };
}

/** Next step of a started, neither cancelled nor reversed rollout on its way up. */
export function decideUpgrade(context: DecisionContext): RolloutDecision {
  const retries = selectRetries(context);
  const paused = standingPause(context);
  if (paused) return holdBack(context, paused, retries);
  const { verdict, selection } = takeTurn(context, retries);
  const stopped = verdict.kind === 'stop' ? verdict.reason : (thresholdBreach(context) ?? selection.stop);
  if (stopped) return holdBack(context, stopped, retries, selection.waiting);
  const nodes = [...retries.chosen, ...selection.chosen];
  const waiting = [...retries.waiting, ...selection.waiting, ...(verdict.kind === 'wait' ? verdict.reasons : [])];
  if (nodes.length > 0) return { kind: 'run', status: 'running', nodes, reasons: waiting };
  const reasons = [...underwayReasons(context), ...waiting];
  if (reasons.length === 0) return finish(context);
  const until = earliest(
    verdict.kind === 'wait' ? verdict.until : null,
    earliestOfferLapse(context.offered, context.now),
    retries.until,
    selection.until,
  );
  return { kind: 'wait', status: 'running', until, reasons };
}
