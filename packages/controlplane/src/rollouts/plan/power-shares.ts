import type { FieldError } from '@hoodcloud/contracts/http/problem';
import type { PlanShareView, RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import { type QuorumFacts, shareText, staysBelow } from '@hoodcloud/domain/quorum-facts';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { VOTING_POWER } from '../../nodes/voting-power.ts';
import { loadQuorum } from '../../policies/load-quorum.ts';
import type { ChainLimits } from '../load-rollout-snapshot.ts';

/** More batches than these are told by the one that takes most. */
const MOST_BATCHES = 20;

/** The voting power of a chain, and of its nodes by id; one without a known power is left out. */
export interface ChainPower extends QuorumFacts {
  readonly byNode: ReadonlyMap<string, bigint>;
}

/** Null: the chain guards no quorum. */
export async function loadChainPower(db: Db, chains: ChainLimits, chain: string): Promise<ChainPower | null> {
  const rule = (await chains.quorum?.(chain)) ?? null;
  if (rule === null) return null;
  const { rows } = await sql<{ id: string; power: string | null }>`
    select n.id, ${VOTING_POWER} as power from nodes n where n.chain_profile_id = ${chain}`.execute(db);
  const byNode = new Map(rows.flatMap(({ id, power }) => (power === null ? [] : [[id, BigInt(power)] as const])));
  return { ...(await loadQuorum(db, chain, rule, new Date())), byNode };
}

/** The share of the chain's voting power that each batch takes down at once. */
export function powerShares(
  power: ChainPower | null,
  request: Pick<CreateRolloutRequest, 'max_in_flight'>,
  batches: RolloutPlanView['batches'],
): PlanShareView[] {
  if (power === null || power.total === null) return [];
  const { total } = power;
  const shares = batches.map(({ index, nodes }) => {
    const down = mostDown(
      power,
      nodes.map(({ node_id }) => node_id),
      request.max_in_flight,
    );
    return { measure: 'power' as const, zone: null, batch_index: index, ...countable(down, total) };
  });
  const some = shares.filter(({ down }) => down > 0);
  if (some.length <= MOST_BATCHES) return some;
  return some.toSorted((one, other) => other.down - one.down).slice(0, 1);
}

/** `all_at_once` that would take the quorum is created only with the figure in hand; the guard holds its nodes all the same. */
export function unacknowledgedShare(
  power: ChainPower | null,
  request: Pick<CreateRolloutRequest, 'strategy' | 'max_in_flight' | 'acknowledge_quorum_share'>,
  nodeIds: readonly string[],
): FieldError[] {
  if (power === null || request.strategy !== 'all_at_once') return [];
  const { total, limit, chain } = power;
  const down = mostDown(power, nodeIds, request.max_in_flight);
  if (total !== null && staysBelow(down, total, limit)) return [];
  const figure = total === null ? 'unknown' : shareText(down, total);
  if (request.acknowledge_quorum_share === figure) return [];
  const most = `${limit.numerator}/${limit.denominator}`;
  const message = `All nodes at once are ${figure} of the voting power of ${chain}, which must stay below ${most} down: use batches, or acknowledge it with acknowledge_quorum_share "${figure}" (--acknowledge-quorum-share ${figure}).`;
  return [{ field: 'acknowledge_quorum_share', code: 'quorum_share_not_acknowledged', message }];
}

/** The greatest power that so many of the nodes hold together. */
function mostDown({ byNode }: ChainPower, nodeIds: readonly string[], atOnce: number | undefined): bigint {
  const powers = nodeIds
    .map((id) => byNode.get(id) ?? 0n)
    .sort((one, other) => (one < other ? 1 : one > other ? -1 : 0));
  return powers.slice(0, atOnce).reduce((sum, power) => sum + power, 0n);
}

/** Both in units that a JSON number holds exactly. */
function countable(down: bigint, total: bigint): { down: number; total: number } {
  const unit = total / BigInt(Number.MAX_SAFE_INTEGER) + 1n;
  return { down: Number(down / unit), total: Number(total / unit) };
}
