import { currentBatch } from './decide-upgrade.ts';
import { decisionContext } from './decision-context.ts';
import { wantsAttempt } from './rollout-rows.ts';
import type { RolloutSnapshot } from './rollout-snapshot.ts';
import { STRATEGIES } from './rollout-strategy/strategies.ts';

/** A snapshot before anything is known of its fleet. */
export type FleetlessSnapshot = Pick<RolloutSnapshot, 'rollout' | 'nodes' | 'controls'>;

/**
 * Ids of the nodes about which `decideNext` may ask the fleet: whose turn it is, who is wanted again, who goes back, the
 * canaries, and everybody of a rollout that makes ready ahead. A snapshot with a fleet of these alone gets the same
 * decision, so that a rollout over ten thousand nodes need not read ten thousand of them at each question.
 * @param now epoch milliseconds, the same as of the decision
 */
export function askedNodes(snapshot: FleetlessSnapshot, now: number): ReadonlySet<string> {
  const { rollout, nodes } = snapshot;
  if (rollout.stage) return new Set(nodes.map(({ nodeId }) => nodeId));
  const context = decisionContext({ ...EMPTY, ...snapshot }, now);
  const batch = currentBatch(context, new Set());
  const { hasCanaries } = STRATEGIES[rollout.strategy];
  const asked = nodes.filter((row) => {
    if (hasCanaries && row.batchIndex === 0) return true;
    if (!wantsAttempt(row)) return false;
    // an offer that is out counts as starting, whatever its batch
    return row.status !== 'pending' || row.batchIndex === batch || row.offeredAt !== null;
  });
  return new Set(asked.map(({ nodeId }) => nodeId));
}

const EMPTY: Omit<RolloutSnapshot, keyof FleetlessSnapshot> = {
  chain: { chainProfileId: '', bestHeight: null, heightGrewAt: null, maxBlockIntervalMs: null },
  fleet: new Map(),
  overrides: [],
  windows: [],
  freezes: [],
  budgets: [],
  quorum: null,
};
