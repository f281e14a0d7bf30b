import { expectedAt } from '../block-rate.ts';
import { isoTime } from '../iso-time.ts';
import { reason } from '../reasons.ts';
import { OPEN, type StartGate, wait } from './start-gate.ts';

/** How long the rollout may sleep before the height is looked at again, in milliseconds. */
const SHORTEST_SLEEP_MS = 1_000;
const LONGEST_SLEEP_MS = 600_000;
const SLEEP_WITHOUT_RATE_MS = 15_000;

/**
 * No node starts before its chain is at the height that the rollout was made for; an unknown height waits and says so.
 * A retry is a person's order of now, and a rollback may be the cure: both pass.
 */
export const scheduledHeight: StartGate = ({ purpose }, { snapshot, now }) => {
  const { rollout, chain } = snapshot;
  const height = rollout.startAtHeight ?? null;
  if (height === null || purpose !== 'first') return OPEN;
  const rule = { name: 'start_at_height', persons: 1 } as const;
  const { bestHeight } = chain;
  if (bestHeight === null) {
    return wait({ reason: reason('chain_height_unknown', { height }), until: now + SLEEP_WITHOUT_RATE_MS, rule });
  }
  if (bestHeight >= height) return OPEN;
  const expected = expectedAt(height, chain);
  const eta = expected === null ? 'nobody knows when yet' : `about ${isoTime(expected)}`;
  return wait({
    reason: reason('waiting_for_height', { height, best: bestHeight, left: height - bestHeight, eta }),
    until: expected === null ? now + SLEEP_WITHOUT_RATE_MS : nextLook(expected, now),
    rule,
  });
};

/** Half of the time that is left: the rate may change meanwhile, and near the height every second counts. */
function nextLook(expected: number, now: number): number {
  return now + Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, Math.round((expected - now) / 2)));
}
