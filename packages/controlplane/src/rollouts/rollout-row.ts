import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RolloutNodesTable, RolloutsTable } from '../db/generated/tables.ts';

export type RolloutRow = Selectable<RolloutsTable>;
export type RolloutNodeRow = Selectable<RolloutNodesTable>;

/** Locks a rollout's row, so that questions about it are answered one after the other. */
export async function lockRollout(db: Db, rolloutId: string): Promise<RolloutRow> {
  return db.selectFrom('rollouts').selectAll().where('id', '=', rolloutId).forUpdate().executeTakeFirstOrThrow();
}

/**
 * Reads a rollout's row and keeps controls and questions from changing it until the transaction ends: what begins by what
 * the row and its controls say has begun before a later cancel is answered (C6). Others may share it; null when there is none.
 */
export async function shareRollout(db: Db, rolloutId: string): Promise<RolloutRow | null> {
  const row = await db.selectFrom('rollouts').selectAll().where('id', '=', rolloutId).forShare().executeTakeFirst();
  return row ?? null;
}

/** Locks a node's row in a rollout; null when there is none. */
export async function lockRolloutNode(
  db: Db,
  ref: { readonly rolloutId: string; readonly nodeId: string },
): Promise<RolloutNodeRow | null> {
  const row = await db
    .selectFrom('rollout_nodes')
    .selectAll()
    .where('rollout_id', '=', ref.rolloutId)
    .where('node_id', '=', ref.nodeId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}
