import type { DecisionContext } from './decision-context.ts';
import { type Reason, reason } from './reasons.ts';
import type { RolloutDecision } from './rollout-decision.ts';
import { earliestOfferLapse } from './rollout-rows.ts';
import type { RolloutNodeFacts } from './rollout-snapshot.ts';
import type { RolloutStatus } from './rollout-status.ts';

/** Nodes that must end, or whose offer must lapse, before the rollout stands still. */
export function underwayCount({ inFlight, offered }: DecisionContext): number {
  return inFlight.length + offered.length;
}

function idsOf(rows: readonly RolloutNodeFacts[]): string[] {
  return rows.map((row) => row.nodeId);
}

/** Reasons that say what is under way. */
export function underwayReasons({ inFlight, offered }: DecisionContext): Reason[] {
  const reasons: Reason[] = [];
  if (inFlight.length > 0) {
    const batch = Math.max(...inFlight.map((row) => row.batchIndex));
    reasons.push(reason('nodes_in_flight', { count: inFlight.length, batch }, idsOf(inFlight)));
  }
  if (offered.length > 0) reasons.push(reason('nodes_offered', { count: offered.length }, idsOf(offered)));
  return reasons;
}

/** The earliest of some times; null when there is none. */
export function earliest(...times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Waits for what is under way; `why` comes first. Wakes by itself when an offer lapses, and when a gate may open. */
export function waitForUnderway(
  context: DecisionContext,
  status: RolloutStatus,
  why: readonly Reason[],
  gatesOpenAt: number | null,
): RolloutDecision {
  const until = earliest(earliestOfferLapse(context.offered, context.now), gatesOpenAt);
  return { kind: 'wait', status, until, reasons: [...why, ...underwayReasons(context)] };
}

/** Waits while anything is under way, then does `then`. In-flight nodes always run to their end (spec "Cancellation"). */
export function drain(
  context: DecisionContext,
  status: RolloutStatus,
  why: readonly Reason[],
  then: RolloutDecision,
  gatesOpenAt: number | null = null,
): RolloutDecision {
  return underwayCount(context) > 0 ? waitForUnderway(context, status, why, gatesOpenAt) : then;
}
