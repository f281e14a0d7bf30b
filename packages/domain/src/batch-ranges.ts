import type { NodeUpgradeStatus } from './node-upgrade-status.ts';

/** How many nodes of one batch have one status. */
export interface BatchCount {
  readonly batch: number;
  readonly status: NodeUpgradeStatus;
  readonly nodes: number;
}

/** A batch fills up from the left: what is over, what happens, what comes. */
const PLACE: Readonly<Record<NodeUpgradeStatus, number>> = {
  succeeded: 0,
  failed: 1,
  rolled_back: 2,
  validating: 3,
  in_progress: 4,
  pending: 5,
  skipped: 6,
};

/** One batch, or neighbours that look alike; `counts` with what is over first, none of them zero. */
export interface BatchRange {
  readonly first: number;
  readonly last: number;
  readonly nodes: number;
  readonly counts: readonly { readonly status: NodeUpgradeStatus; readonly nodes: number }[];
}

/**
 * A picture of thousands of batches that stays small: those in which something happens stand alone, runs of batches of one
 * size whose nodes all have the same status become one range. Nodes left out at the start (batch -1) come last.
 */
export function batchRanges(counts: readonly BatchCount[]): BatchRange[] {
  const ranges: BatchRange[] = [];
  for (const batch of batchesInOrder(counts)) {
    const before = ranges.at(-1);
    if (before !== undefined && looksAlike(before, batch)) ranges[ranges.length - 1] = joined(before, batch);
    else ranges.push(batch);
  }
  return ranges;
}

function batchesInOrder(counts: readonly BatchCount[]): BatchRange[] {
  const byBatch = new Map<number, BatchCount[]>();
  for (const count of counts) byBatch.set(count.batch, [...(byBatch.get(count.batch) ?? []), count]);
  const order = (batch: number) => (batch < 0 ? Number.POSITIVE_INFINITY : batch);
  return [...byBatch]
    .sort(([one], [other]) => order(one) - order(other))
    .map(([batch, of]) => ({
      first: batch,
      last: batch,
      nodes: of.reduce((sum, { nodes }) => sum + nodes, 0),
      counts: of
        .map(({ status, nodes }) => ({ status, nodes }))
        .sort((one, other) => PLACE[one.status] - PLACE[other.status]),
    }));
}

function looksAlike(range: BatchRange, next: BatchRange): boolean {
  const [one, ...others] = range.counts;
  const [two, ...more] = next.counts;
  if (one === undefined || two === undefined || others.length > 0 || more.length > 0) return false;
  const size = range.nodes / (range.last - range.first + 1);
  return range.last + 1 === next.first && one.status === two.status && size === next.nodes;
}

function joined(range: BatchRange, next: BatchRange): BatchRange {
  const nodes = range.nodes + next.nodes;
  return { first: range.first, last: next.last, nodes, counts: range.counts.map(({ status }) => ({ status, nodes })) };
}
