import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { etagOf } from '../http/etag.ts';

/**
 * What an operator decides upon: the group's status and direction, and what people ordered so far of it. Progress of its
 * components is not part of it, since it changes by itself while somebody looks.
 * @throws when there is no such group
 */
export async function groupEtag(db: Db, id: string): Promise<string> {
  const row = await db
    .selectFrom('rollout_groups as g')
    .select(['g.status', 'g.status_changed_at', 'g.direction'])
    .select(
      sql<string>`(select coalesce(max(seq), 0) from rollout_group_controls where group_id = g.id)::text`.as('orders'),
    )
    .where('g.id', '=', id)
    .executeTakeFirstOrThrow();
  return etagOf([id, row.status, row.status_changed_at, row.direction, row.orders]);
}
