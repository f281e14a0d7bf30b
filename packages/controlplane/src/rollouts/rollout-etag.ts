import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { etagOf } from '../http/etag.ts';

/**
 * What an operator decides upon: the rollout's status and direction, and what people ordered so far. Progress of nodes is
 * not part of it, since it changes by itself while somebody looks.
 * @throws when there is no such rollout
 */
export async function rolloutEtag(db: Db, id: string): Promise<string> {
  const row = await db
    .selectFrom('rollouts as r')
    .select(['r.status', 'r.status_changed_at', 'r.direction'])
    .select(
      sql<string>`(select coalesce(max(seq), 0) from rollout_controls where rollout_id = r.id)::text`.as('orders'),
    )
    .where('r.id', '=', id)
    .executeTakeFirstOrThrow();
  return etagOf([id, row.status, row.status_changed_at, row.direction, row.orders]);
}
