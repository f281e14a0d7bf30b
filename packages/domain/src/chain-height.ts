import type { ChainFacts } from './rollout-snapshot.ts';

/** Best height of a chain over its fleet and when it last grew, by the server's clock (D4a). */
export interface ChainHeight {
  readonly bestHeight: number | null;
  readonly grewAt: number | null;
}

/** Height one node reported; null when its metrics did not say. */
export interface HeightReport {
  readonly height: number | null;
  /** Server receive time, epoch milliseconds. */
  readonly receivedAt: number;
}

/** A node's own height and when it last grew. */
export type NodeHeight = { readonly height: number | null; readonly grewAt: number | null };

/** The chain's height after some reports; a height below the best changes nothing. */
export function advanceChainHeight(before: ChainHeight, reports: readonly HeightReport[]): ChainHeight {
  return reports.reduce<ChainHeight>((best, { height, receivedAt }) => {
    if (height === null || (best.bestHeight !== null && height <= best.bestHeight)) return best;
    return { bestHeight: height, grewAt: Math.max(receivedAt, best.grewAt ?? receivedAt) };
  }, before);
}

/** Whether the chain stands for longer than its normal pause. An unknown height is not a halt (D4a). */
export function isHalted(chain: ChainFacts, now: number): boolean {
  if (chain.bestHeight === null || chain.heightGrewAt === null || chain.maxBlockIntervalMs === null) return false;
  return now - chain.heightGrewAt > chain.maxBlockIntervalMs;
}

/**
 * Whether a node stands still while its chain grows. A node that is behind but grows is syncing, and on a halted chain
 * nobody is stalled.
 * @param toleranceMs how long a node may stand while the chain grows
 */
export function isStalled(node: NodeHeight, chain: ChainFacts, now: number, toleranceMs: number): boolean {
  if (node.height === null || node.grewAt === null) return false;
  if (chain.bestHeight === null || chain.heightGrewAt === null || isHalted(chain, now)) return false;
  const chainGrewSince = chain.bestHeight > node.height && chain.heightGrewAt > node.grewAt;
  return chainGrewSince && now - node.grewAt > toleranceMs;
}
