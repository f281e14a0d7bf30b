/** Label of a node that names where it stands: what fails together. */
export const ZONE_LABEL = 'zone';

/** Over this share of a BFT chain's validators down at once, the chain makes no block. */
export const QUORUM_SHARE = 1 / 3;

export interface ShareInput {
  /** The zone of each node of each batch, in order; null: the node has no zone. */
  readonly batches: readonly (readonly (string | null)[])[];
  readonly maxInFlight: number | null;
  /** Nodes of the chain and the type, those that are left out included. */
  readonly nodes: number;
  readonly nodesByZone: ReadonlyMap<string, number>;
}

/** The most nodes of a fleet or of one of its zones that are down at the same time. */
export interface NodeShare {
  /** Null: of the whole fleet. */
  readonly zone: string | null;
  /** The first batch that takes so many. */
  readonly batchIndex: number;
  readonly down: number;
  readonly of: number;
}

/**
 * The share of the fleet, and of each zone that the plan touches, that one batch takes down at once: every node of a batch
 * is stopped for a while, at most `maxInFlight` of them together. Nodes are counted; what each may sign with is not known.
 */
export function largestShares(input: ShareInput): NodeShare[] {
  const { batches, maxInFlight, nodes, nodesByZone } = input;
  const largest = new Map<string | null, NodeShare>();
  const note = (zone: string | null, batchIndex: number, count: number, of: number) => {
    const down = Math.min(count, maxInFlight ?? count);
    if (down > (largest.get(zone)?.down ?? 0)) largest.set(zone, { zone, batchIndex, down, of });
  };
  for (const [batchIndex, zones] of batches.entries()) {
    note(null, batchIndex, zones.length, nodes);
    const counts = new Map<string, number>();
    for (const zone of zones) if (zone !== null) counts.set(zone, (counts.get(zone) ?? 0) + 1);
    for (const [zone, count] of counts) note(zone, batchIndex, count, nodesByZone.get(zone) ?? count);
  }
  return [...largest.values()].sort((one, other) => (one.zone ?? '').localeCompare(other.zone ?? ''));
}

/** Whether so much is gone at once that a quorum may be: a fleet of one node has none to lose. */
export function endangersQuorum({ down, of }: Pick<NodeShare, 'down' | 'of'>): boolean {
  return of > 1 && down / of > QUORUM_SHARE;
}
