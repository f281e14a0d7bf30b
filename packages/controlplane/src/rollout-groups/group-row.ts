import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RolloutGroupsTable } from '../db/generated/tables.ts';

export type GroupRow = Selectable<RolloutGroupsTable>;

/** Locks a group's row, so that questions about it are answered one after the other. */
export async function lockGroup(db: Db, groupId: string): Promise<GroupRow> {
  return db.selectFrom('rollout_groups').selectAll().where('id', '=', groupId).forUpdate().executeTakeFirstOrThrow();
}
