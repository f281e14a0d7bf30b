import type { Page, PageQuery } from '@hoodcloud/contracts/http/common';
import type { NodeUpgradeView } from '@hoodcloud/contracts/http/nodes';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { storedReason } from '../http/reason-view.ts';
import { timestampOrNull } from '../http/timestamps.ts';

/** One page of what rollouts did to a node, the newest first. */
export async function listNodeUpgrades(db: Db, nodeId: string, query: PageQuery): Promise<Page<NodeUpgradeView>> {
  let select = selectUpgrades(db, nodeId).limit(query.limit + 1);
  if (query.cursor) {
    const [createdAt, id] = decodeCursor(query.cursor, ['time', 'uuid']);
    select = select.where(sql<boolean>`(rn.created_at, rn.id) < (${createdAt}::timestamptz, ${id}::uuid)`);
  }
  return toPage(await select.execute(), query.limit, upgradeView, (row) => [row.created_at_text, row.id]);
}

function selectUpgrades(db: Db, nodeId: string) {
  return db
    .selectFrom('rollout_nodes as rn')
    .innerJoin('rollouts as r', 'r.id', 'rn.rollout_id')
    .selectAll('rn')
    .select(['r.binary_name', 'r.target_version'])
    .select([
      sql<string>`rn.created_at::text`.as('created_at_text'),
      sql<boolean>`jsonb_array_length(rn.log_tail) > 0`.as('has_log'),
    ])
    .where('rn.node_id', '=', nodeId)
    .orderBy('rn.created_at', 'desc')
    .orderBy('rn.id', 'desc');
}

type Row = Awaited<ReturnType<ReturnType<typeof selectUpgrades>['executeTakeFirstOrThrow']>>;

/** A rollback goes from the rollout's version back to the one before. */
function upgradeView(row: Row): NodeUpgradeView {
  const back = row.attempt_direction === 'rollback';
  return {
    rollout_id: row.rollout_id,
    binary_name: row.binary_name,
    from_version: back ? row.target_version : row.previous_version,
    to_version: back ? (row.previous_version ?? 'the version before') : row.target_version,
    direction: row.attempt_direction,
    status: row.status,
    phase: row.upgrade_phase,
    reason: storedReason(row.status_reason, row.status_reason_params),
    error_message: row.error_message,
    attempts: row.attempt_count,
    started_at: timestampOrNull(row.started_at),
    ended_at: timestampOrNull(row.ended_at),
    duration_ms: row.duration_ms,
    downtime_ms: row.downtime_ms,
    has_log: row.has_log,
  };
}
