import { isEndedNode, isInFlight } from './node-upgrade-status.ts';
import { OFFER_AGAIN_AFTER_MS } from './rollout-decision.ts';
import type { RolloutNodeFacts } from './rollout-snapshot.ts';

/** Whether a child workflow should be started for the row: its wanted attempt has not begun (C7, C8). */
export function wantsAttempt(row: RolloutNodeFacts): boolean {
  if (isInFlight(row.status) || row.status === 'skipped') return false;
  return row.status === 'pending' || row.requestedAttempt > row.attemptCount;
}

/** Number of the attempt that a start of this row would be. */
export function nextAttempt(row: RolloutNodeFacts): number {
  return Math.max(row.requestedAttempt, row.attemptCount + 1);
}

/** Whether an offer is out that a child may still take; it counts as about to be in flight (C7). */
export function isOffered(row: RolloutNodeFacts, now: number): boolean {
  return wantsAttempt(row) && row.offeredAt !== null && now - row.offeredAt < OFFER_AGAIN_AFTER_MS;
}

/** Whether the row counts as failed (C5): a node that the agent undid does, one that a person rolled back does not. */
export function isFailure({ status, attemptDirection }: RolloutNodeFacts): boolean {
  return status === 'failed' || (status === 'rolled_back' && attemptDirection === 'upgrade');
}

/** Whether nothing is going on with the row any more: it ended and nobody is about to start it. */
export function isSettled(row: RolloutNodeFacts, now: number): boolean {
  return isEndedNode(row.status) && !isOffered(row, now);
}

/** When an outstanding offer lapses, the earliest of them; null when there is none. */
export function earliestOfferLapse(rows: readonly RolloutNodeFacts[], now: number): number | null {
  let earliest: number | null = null;
  for (const row of rows) {
    if (row.offeredAt === null || !isOffered(row, now)) continue;
    const lapse = row.offeredAt + OFFER_AGAIN_AFTER_MS;
    if (earliest === null || lapse < earliest) earliest = lapse;
  }
  return earliest;
}
