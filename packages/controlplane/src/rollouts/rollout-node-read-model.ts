import type { Page, PageQuery, ReasonView } from '@hoodcloud/contracts/http/common';
import type { RolloutNodeLogs, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { AGENT_OPERATIONS, type AgentOperation } from '@hoodcloud/domain/agent-operation';
import { failureClassOf } from '@hoodcloud/domain/failure-class';
import type { NodeUpgradeStatus } from '@hoodcloud/domain/node-upgrade-status';
import { isFailure } from '@hoodcloud/domain/rollout-rows';
import { sql } from 'kysely';
import { containsText } from '../db/contains-text.ts';
import type { Db } from '../db/database.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { storedReason, storedReasons } from '../http/reason-view.ts';
import { timestampOrNull } from '../http/timestamps.ts';
import { isOnline } from '../nodes/liveness.ts';
import type { ChainLimits } from './load-rollout-snapshot.ts';
import { nodeFacts } from './rollout-facts.ts';
import { whyOfNodes } from './why-of-nodes.ts';

export interface RolloutNodeFilter extends PageQuery {
  readonly status?: NodeUpgradeStatus | undefined;
  readonly node_id?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly batch?: number | undefined;
}

/** Nodes left out at the start belong to no batch (-1) and come last. */
const BATCH_ORDER = sql<number>`case when rn.batch_index < 0 then 2147483647 else rn.batch_index end`;

/** One page of a rollout's nodes, batch by batch, in the order of their names. */
export async function listRolloutNodes(
  db: Db,
  chains: ChainLimits,
  rolloutId: string,
  filter: RolloutNodeFilter,
): Promise<Page<RolloutNodeView>> {
  const page = idsOfPage(db, rolloutId, filter);
  const select = selectNodes(db, rolloutId).where('rn.id', 'in', page).orderBy(BATCH_ORDER).orderBy('n.name');
  const now = new Date();
  const rows = await select.execute();
  const why = await whyOfNodes(db, chains, { rolloutId, rows, now });
  return toPage(
    rows,
    filter.limit,
    (row) => nodeView(row, why.get(row.node_id) ?? [], now),
    (row) => [row.batch_order, row.node_name],
  );
}

/** Which rows are on the page: found before their commands and proofs are looked up, which is dear for ten thousand rows. */
function idsOfPage(db: Db, rolloutId: string, filter: RolloutNodeFilter) {
  let select = db
    .selectFrom('rollout_nodes as rn')
    .innerJoin('nodes as n', 'n.id', 'rn.node_id')
    .select('rn.id')
    .where('rn.rollout_id', '=', rolloutId)
    .orderBy(BATCH_ORDER)
    .orderBy('n.name')
    .limit(filter.limit + 1);
  if (filter.status) select = select.where('rn.status', '=', filter.status);
  if (filter.node_id) select = select.where('rn.node_id', 'in', filter.node_id);
  if (filter.name) select = select.where(containsText('n.name', filter.name));
  if (filter.batch !== undefined) select = select.where('rn.batch_index', '=', filter.batch);
  if (filter.cursor) {
    const [batch, name] = decodeCursor(filter.cursor, ['number', 'text']);
    select = select.where(sql<boolean>`(${BATCH_ORDER}, n.name) > (${Number(batch)}::int, ${name}::varchar)`);
  }
  return select;
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
          .where('ac.operation', 'in', [...AGENT_OPERATIONS])
          .orderBy('ac.created_at', 'desc')
          .limit(1)
          .as('cmd'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('health_validations as v')
          .select(['v.reasons', 'v.attempt_id'])
          .whereRef('v.rollout_node_id', '=', 'rn.id')
          .orderBy('v.created_at', 'desc')
          .limit(1)
          .as('health'),
      (join) => join.onTrue(),
    )
    .selectAll('rn')
    .select([
      BATCH_ORDER.as('batch_order'),
      'r.stage',
      'n.name as node_name',
      'n.state as node_state',
      'n.last_heartbeat_at',
      'n.height',
      'c.running_checksum as current_checksum',
      'cmd.attempt_id as command_attempt_id',
      sql<AgentOperation | null>`cmd.operation`.as('operation'),
      'cmd.status as command_status',
      'cmd.action_index',
      'cmd.action_name',
      'cmd.progress_pct',
      'cmd.progress_note',
      'cmd.progress_at',
      'cmd.action_since',
      'cmd.created_at as command_created_at',
      'cmd.delivered_at',
      'cmd.acknowledged_at',
      'cmd.deadline_at',
      'cmd.late_result',
      'health.reasons as health_reasons',
      'health.attempt_id as health_attempt_id',
    ])
    .where('rn.rollout_id', '=', rolloutId);
}

/** A row of a rollout with its node, its newest command and its newest proof of health. */
export type RolloutNodeRow = Awaited<ReturnType<ReturnType<typeof selectNodes>['executeTakeFirstOrThrow']>>;

function nodeView(row: RolloutNodeRow, why: readonly ReasonView[], now: Date): RolloutNodeView {
  return {
    rollout_id: row.rollout_id,
    node_id: row.node_id,
    node_name: row.node_name,
    node_state: row.node_state,
    online: isOnline(row.last_heartbeat_at, now),
    height: row.height,
    batch_index: row.batch_index,
    late: row.late,
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
    staged: stagedView(row),
    health_reasons: storedReasons(row.health_reasons),
    why: [...why],
    error_message: row.error_message,
    failure_class: isFailure(nodeFacts(row)) ? failureClassOf(row.status_reason, row.error_code) : null,
    late_result: row.late_result ?? null,
    left_stopped: row.left_stopped,
    started_at: timestampOrNull(row.started_at),
    ended_at: timestampOrNull(row.ended_at),
    duration_ms: row.duration_ms,
    downtime_ms: row.downtime_ms,
  };
}

/** What the node has ready ahead; null when the rollout never asked. */
function stagedView(row: RolloutNodeRow): RolloutNodeView['staged'] {
  if (!row.stage && row.stage_goal === null) return null;
  const { stage_goal: goal, stage_state: state, stage_error: error } = row;
  return { goal, state, error, changed_at: timestampOrNull(row.stage_changed_at) };
}

/** How far the node's newest command is (B4a); null when none was sent. */
function commandView(row: RolloutNodeRow): RolloutNodeView['command'] {
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
