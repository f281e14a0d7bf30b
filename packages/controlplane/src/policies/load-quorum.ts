import { NO_MEMBER_STATES } from '@hoodcloud/domain/availability';
import type { QuorumFacts, QuorumRule } from '@hoodcloud/domain/quorum-facts';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { VOTING_POWER } from '../nodes/voting-power.ts';
import { FLYING, isUnavailable } from './unavailable-nodes.ts';

interface QuorumRow {
  readonly total: string | null;
  readonly down: string;
  readonly names: string[] | null;
  readonly unknown: string[] | null;
}

/** The voting power of a chain, summed in the database; the total is what a node told last, else what the fleet holds. */
export async function loadQuorum(db: Db, chain: string, rule: QuorumRule, now: Date): Promise<QuorumFacts> {
  const { rows } = await sql<QuorumRow>`
    select coalesce((array_agg(told order by told_at desc) filter (where told > 0))[1], sum(power))::text as total,
           coalesce(sum(power) filter (where unavailable), 0)::text as down,
           array_agg(name order by name) filter (where unavailable and power > 0) as names,
           array_agg(name order by name) filter (where unavailable and power is null
             and node_type = any(${[...rule.nodeTypes]}::text[])) as unknown
      from (select n.name, n.node_type, ${VOTING_POWER} as power, n.chain_power as told, n.voting_power_at as told_at,
                   ${isUnavailable(now)} as unavailable
              from nodes n ${FLYING}
             where n.chain_profile_id = ${chain} and n.state <> all(${[...NO_MEMBER_STATES]}::text[])) member`.execute(
    db,
  );
  const [row] = rows;
  return {
    ...rule,
    chain,
    total: row?.total == null || BigInt(row.total) === 0n ? null : BigInt(row.total),
    down: BigInt(row?.down ?? 0),
    names: row?.names ?? [],
    unknown: row?.unknown ?? [],
  };
}
