import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** A newer rollout of the same binary that has changed nodes which succeeded in this one; null when none has (C3). */
export async function newerRolloutOf(db: Db, rolloutId: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select newer.rollout_id as id
      from rollout_nodes mine join rollouts r on r.id = mine.rollout_id
      join rollout_nodes newer on newer.node_id = mine.node_id and newer.rollout_id <> mine.rollout_id
      join rollouts other on other.id = newer.rollout_id and other.binary_name = r.binary_name
     where mine.rollout_id = ${rolloutId} and mine.status = 'succeeded'
       and newer.attempt_count > 0 and newer.started_at > mine.ended_at
     order by newer.started_at desc limit 1`.execute(db);
  return rows[0]?.id ?? null;
}

/** A newer rollout of the same binary that has changed this node since; null when none has (C8). */
export async function newerRolloutOfNode(db: Db, rolloutId: string, nodeId: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select newer.rollout_id as id
      from rollout_nodes mine join rollouts r on r.id = mine.rollout_id
      join rollout_nodes newer on newer.node_id = mine.node_id and newer.rollout_id <> mine.rollout_id
      join rollouts other on other.id = newer.rollout_id and other.binary_name = r.binary_name
     where mine.rollout_id = ${rolloutId} and mine.node_id = ${nodeId}
       and newer.attempt_count > 0 and newer.started_at > coalesce(mine.ended_at, mine.created_at)
     order by newer.started_at desc limit 1`.execute(db);
  return rows[0]?.id ?? null;
}
