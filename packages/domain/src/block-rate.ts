import type { ChainHeight } from './chain-height.ts';
import type { ChainFacts } from './rollout-snapshot.ts';

/** Share by which one block's time moves the average: the last hundred blocks or so count. */
const SHARE_OF_ONE_BLOCK = 0.01;
/** A pause of the chain is no block rate: one growth counts at most as so many times the average. */
const LONGEST_IN_AVERAGES = 10;

/**
 * Average time between the chain's blocks after it grew, in milliseconds; null while it never grew twice.
 * @param average before
 */
export function blockIntervalAfter(average: number | null, before: ChainHeight, after: ChainHeight): number | null {
  if (before.bestHeight === null || after.bestHeight === null || before.grewAt === null || after.grewAt === null) {
    return average;
  }
  const blocks = after.bestHeight - before.bestHeight;
  const ms = after.grewAt - before.grewAt;
  if (blocks <= 0 || ms <= 0) return average;
  const measured = ms / blocks;
  if (average === null) return measured;
  const share = 1 - (1 - SHARE_OF_ONE_BLOCK) ** blocks;
  return average + share * (Math.min(measured, average * LONGEST_IN_AVERAGES) - average);
}

/** When the chain is expected at a height, in epoch milliseconds; null when height or rate is unknown. */
export function expectedAt(height: number, chain: ChainFacts): number | null {
  const { bestHeight, heightGrewAt, blockIntervalMs = null } = chain;
  if (bestHeight === null || heightGrewAt === null || blockIntervalMs === null) return null;
  return heightGrewAt + Math.max(0, height - bestHeight) * blockIntervalMs;
}
