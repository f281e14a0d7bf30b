import type { Page, PageQuery } from '@hoodcloud/contracts/http/common';
import type { RolloutNodeLogs, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import type { NodeUpgradeStatus } from '@hoodcloud/domain/node-upgrade-status';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { storedReason, storedReasons } from '../http/reason-view.ts';
import { timestampOrNull } from '../http/timestamps.ts';
import { isOnline } from '../nodes/liveness.ts';

export interface RolloutNodeFilter extends PageQuery {
  readonly status?: NodeUpgradeStatus | undefined;
  readonly node_id?: string | undefined;
}

/** Nodes left out at the start belong to no batch (-1) and come last. */
const BATCH_ORDER = sql<number>`case when rn.batch_index < 0 then 2147483647 else rn.batch_index end`;

/** One page of a rollout's nodes, batch by batch, in the order of their names. */
export async function listRolloutNodes(
  db: Db,
  rolloutId: string,
  filter: RolloutNodeFilter,
): Promise<Page<RolloutNodeView>> {
  let select = selectNodes(db, rolloutId)
    .orderBy(BATCH_ORDER)
    .orderBy('n.name')
    .limit(filter.limit + 1);
  if (filter.status) select = select.where('rn.status', '=', filter.status);
  if (filter.node_id) select = select.where('rn.node_id', '=', filter.node_id);
  if (filter.cursor) {
    const [batch, name] = decodeCursor(filter.cursor, ['number', 'text']);
    select = select.where(sql<boolean>`(${BATCH_ORDER}, n.name) > (${Number(batch)}::int, ${name}::varchar)`);
  }
  const now = new Date();
  return toPage(
    await select.execute(),
    filter.limit,
    (row) => nodeView(row, now),
    (row) => [row.batch_order, row.node_name],
  );
}

/** Last lines of the version that failed on the node (A18); null when the node is not in the rollout. */
export async function findRolloutNodeLogs(db: Db, rolloutId: string, nodeId: string): Promise<RolloutNodeLogs | null> {
  const row = await db
    .selectFrom('rollout_nodes as rn')
    .innerJoin('nodes as n', 'n.id', 'rn.node_id')
    .select(['n.name', 'rn.log_tail'])
    .where('rn.rollout_id', '=', rolloutId)
    .where('rn.node_id', '=', nodeId)
    .executeTakeFirst();
  return row ? { node_id: nodeId, node_name: row.name, lines: row.log_tail as string[] } : null;
}

function selectNodes(db: Db, rolloutId: string) {
  return db
    .selectFrom('rollout_nodes as rn')
    .innerJoin('rollouts as r', 'r.id', 'rn.rollout_id')
    .innerJoin('nodes as n', 'n.id', 'rn.node_id')
    .leftJoin('node_components as c', (join) =>
      join.onRef('c.node_id', '=', 'rn.node_id').onRef('c.binary_name', '=', 'r.binary_name'),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('agent_commands as ac')
          .selectAll()
          .whereRef('ac.rollout_node_id', '=', 'rn.id')
          .orderBy('ac.created_at', 'desc')
          .limit(1)
          .as('cmd'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('health_validations as v')
          .select('v.reasons')
          .whereRef('v.rollout_node_id', '=', 'rn.id')
          .orderBy('v.created_at', 'desc')
          .limit(1)
          .as('health'),
      (join) => join.onTrue(),
    )
    .selectAll('rn')
    .select([
      BATCH_ORDER.as('batch_order'),
      'n.name as node_name',
      'n.state as node_state',
      'n.last_heartbeat_at',
      'n.height',
      'c.running_checksum as current_checksum',
      'cmd.operation',
      'cmd.status as command_status',
      'cmd.action_index',
      'cmd.action_name',
      'cmd.progress_pct',
      'cmd.progress_note',
      'cmd.progress_at',
      'cmd.late_result',
      'health.reasons as health_reasons',
    ])
    .where('rn.rollout_id', '=', rolloutId);
}

type NodeRow = Awaited<ReturnType<ReturnType<typeof selectNodes>['executeTakeFirstOrThrow']>>;

function nodeView(row: NodeRow, now: Date): RolloutNodeView {
  return {
    rollout_id: row.rollout_id,
    node_id: row.node_id,
    node_name: row.node_name,
    node_state: row.node_state,
    online: isOnline(row.last_heartbeat_at, now),
    height: row.height,
    batch_index: row.batch_index,
    status: row.status,
    status_reason: storedReason(row.status_reason, row.status_reason_params),
    upgrade_phase: row.upgrade_phase,
    phase_changed_at: timestampOrNull(row.phase_changed_at),
    attempt_count: row.attempt_count,
    attempt_direction: row.attempt_direction,
    previous_version: row.previous_version,
    previous_binary_url: row.previous_binary_url,
    previous_checksum: row.previous_checksum,
    installed_checksum: row.installed_checksum,
    running_checksum: row.running_checksum,
    current_checksum: row.current_checksum,
    command: commandView(row),
    health_reasons: storedReasons(row.health_reasons),
    error_message: row.error_message,
    late_result: row.late_result ?? null,
    left_stopped: row.left_stopped,
    started_at: timestampOrNull(row.started_at),
    ended_at: timestampOrNull(row.ended_at),
    duration_ms: row.duration_ms,
    downtime_ms: row.downtime_ms,
  };
}

/** How far the node's newest command is (B4a); null when none was sent. */
function commandView(row: NodeRow): RolloutNodeView['command'] {
  if (row.operation === null || row.command_status === null) return null;
  return {
    operation: row.operation,
    status: row.command_status,
    action_index: row.action_index,
    action_name: row.action_name,
    progress_pct: row.progress_pct,
    note: row.progress_note,
    at: timestampOrNull(row.progress_at),
  };
}
