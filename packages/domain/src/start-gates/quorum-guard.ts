import { isDown, isMember, isUnavailable } from '../availability.ts';
import { type QuorumFacts, shareText, staysBelow } from '../quorum-facts.ts';
import { type Reason, reason } from '../reasons.ts';
import type { FleetNodeFacts } from '../rollout-snapshot.ts';
import { type GateContext, OPEN, type StartGate, wait } from './start-gate.ts';

/** Other rollouts' nodes come back without waking this one, so it looks again by itself. */
const ASK_AGAIN_MS = 10_000;
/** So many nodes are named; people read no more. */
const MOST_NAMES = 5;

/**
 * No node starts when the share of its chain's voting power that is down would reach the chain's limit; retries and the way
 * back obey too. Power that nobody knows never opens it. A node that is down takes nothing away when it starts, and one that
 * has no power neither. What this answers is an offer; the begin asks once more under the chain's lock.
 */
export const quorumGuard: StartGate = ({ row }, context) => {
  const { fleet, quorum } = context.snapshot;
  const node = fleet.get(row.nodeId);
  if (quorum === null || !node || !isMember(node) || isDown(node)) return OPEN;
  const power = powerOf(node, quorum);
  if (power === 0n) return OPEN;
  const why = whyNot(node, power, quorum, context);
  const rule = { name: `quorum/${quorum.chain}`, persons: 1 } as const;
  return why === null ? OPEN : wait({ reason: why, until: context.now + ASK_AGAIN_MS, rule });
};

/** The node's power; null when it votes and nobody knows with how much. */
export function powerOf(node: FleetNodeFacts, { nodeTypes }: Pick<QuorumFacts, 'nodeTypes'>): bigint | null {
  return node.votingPower ?? (nodeTypes.includes(node.nodeType) ? null : 0n);
}

function whyNot(node: FleetNodeFacts, power: bigint | null, quorum: QuorumFacts, context: GateContext): Reason | null {
  const starting = startingNow(node, context);
  const unsure = [
    ...quorum.unknown,
    ...starting.filter((one) => powerOf(one, quorum) === null).map(({ name }) => name),
    ...(power === null && !quorum.unknown.includes(node.name) ? [node.name] : []),
  ];
  const { chain, total, limit } = quorum;
  if (power === null || total === null || unsure.length > 0) {
    const who = unsure.length === 0 ? 'the chain' : named(unsure);
    return reason('voting_power_unknown', { node: node.name, chain, who });
  }
  const begun = starting
    .filter((one) => !isUnavailable(one))
    .map((one) => ({ ...one, power: powerOf(one, quorum) ?? 0n }));
  const others = begun.reduce((sum, one) => sum + one.power, quorum.down);
  const after = others + (isUnavailable(node) ? 0n : power);
  if (staysBelow(after, total, limit)) return null;
  const who = [...quorum.names, ...begun.filter((one) => one.power > 0n).map(({ name }) => name)];
  return reason('quorum_at_risk', {
    node: node.name,
    chain,
    share: shareText(after, total),
    limit: `${limit.numerator}/${limit.denominator}`,
    who: named(who.filter((name) => name !== node.name)),
  });
}

/** Nodes of the rollout that are about to start. */
function startingNow({ nodeId }: FleetNodeFacts, { snapshot, offered, chosen }: GateContext): FleetNodeFacts[] {
  const ids = [...offered.map((row) => row.nodeId), ...chosen];
  return ids.flatMap((id) => {
    const node = id === nodeId ? undefined : snapshot.fleet.get(id);
    return node === undefined || !isMember(node) ? [] : [node];
  });
}

function named(names: readonly string[]): string {
  if (names.length === 0) return 'no other node';
  const more = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
