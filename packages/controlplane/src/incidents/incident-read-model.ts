import type { Page, PageQuery } from '@hoodcloud/contracts/http/common';
import { type IncidentView, runbookOf } from '@hoodcloud/contracts/http/incidents';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { timestamp, timestampOrNull } from '../http/timestamps.ts';

export interface IncidentFilter extends PageQuery {
  readonly status?: IncidentView['status'] | undefined;
  readonly node_id?: string | undefined;
  readonly rollout_id?: string | undefined;
}

/** What incidents are read with. */
export interface IncidentReads {
  readonly db: Db;
  /** Where the runbooks are: a URL or a path. */
  readonly runbooks: string;
}

/** One page of incidents, newest first. */
export async function listIncidents(
  { db, runbooks }: IncidentReads,
  filter: IncidentFilter,
): Promise<Page<IncidentView>> {
  let select = selectIncidents(db)
    .orderBy('i.created_at', 'desc')
    .orderBy('i.id', 'desc')
    .limit(filter.limit + 1);
  if (filter.status) select = select.where('i.status', '=', filter.status);
  if (filter.node_id) select = select.where('i.node_id', '=', filter.node_id);
  if (filter.rollout_id) select = select.where('i.rollout_id', '=', filter.rollout_id);
  if (filter.cursor) {
    const [createdAt, id] = decodeCursor(filter.cursor, ['time', 'uuid']);
    select = select.where(sql<boolean>`(i.created_at, i.id) < (${createdAt}::timestamptz, ${id}::uuid)`);
  }
  const view = (row: IncidentRow) => incidentView(row, runbooks);
  return toPage(await select.execute(), filter.limit, view, (row) => [row.created_at_text, row.id]);
}

/** One incident; null when there is none. */
export async function findIncident({ db, runbooks }: IncidentReads, id: string): Promise<IncidentView | null> {
  const row = await selectIncidents(db).where('i.id', '=', id).executeTakeFirst();
  return row ? incidentView(row, runbooks) : null;
}

function selectIncidents(db: Db) {
  return db
    .selectFrom('incidents as i')
    .leftJoin('nodes as n', 'n.id', 'i.node_id')
    .selectAll('i')
    .select(['n.name as node_name', sql<string>`i.created_at::text`.as('created_at_text')]);
}

type IncidentRow = Awaited<ReturnType<ReturnType<typeof selectIncidents>['executeTakeFirstOrThrow']>>;

function incidentView(row: IncidentRow, runbooks: string): IncidentView {
  return {
    id: row.id,
    category: row.category,
    severity: row.severity,
    status: row.status,
    node_id: row.node_id,
    node_name: row.node_name,
    rollout_id: row.rollout_id,
    summary: row.summary,
    recovery_plan: row.recovery_plan,
    runbook: runbookOf(row.category, runbooks),
    details: row.details as Record<string, unknown>,
    created_at: timestamp(row.created_at),
    acknowledged_at: timestampOrNull(row.acknowledged_at),
    acknowledged_by: row.acknowledged_by,
    resolved_at: timestampOrNull(row.resolved_at),
    resolved_by: row.resolved_by,
  };
}
