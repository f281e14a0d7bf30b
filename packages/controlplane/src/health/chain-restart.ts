import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Logger } from '../feature.ts';

/** A chain whose best height has stood for so long, while its whole fleet is below it, has begun anew. */
const STANDS_MS = 60_000;
/** Nodes heard of within this time are the fleet. */
const HEARD_WITHIN_MS = 30_000;

/**
 * A chain that people started anew (a test network) is below its old best height for ever and would count as halted. When
 * every node that is heard of has been below the best height for a while, the best of them is where growth is counted
 * from. On a chain that merely lost its furthest node this postpones the judgement "halted" once, by one interval.
 * @returns how many chains were set back
 */
export async function rewindRestartedChains(db: Db, log: Logger, now: Date): Promise<number> {
  const { rows } = await sql<{ chain: string; height: number }>`
    update chain_heights c set best_height = fleet.height, grew_at = ${now}
      from (select chain_profile_id, max(height) as height from nodes
             where last_heartbeat_at > ${new Date(now.getTime() - HEARD_WITHIN_MS)} and height is not null
             group by chain_profile_id) fleet
     where fleet.chain_profile_id = c.chain_profile_id and fleet.height < c.best_height
       and c.grew_at < ${new Date(now.getTime() - STANDS_MS)}
    returning c.chain_profile_id as chain, c.best_height as height`.execute(db);
  for (const { chain, height } of rows) {
    log.warn({ chain_profile_id: chain, height }, 'the whole fleet is below the best height: counted from here again');
  }
  return rows.length;
}
