import type { EventKind } from '@hoodcloud/contracts/events/event-kinds';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { AuditQuery, EventPage, EventView } from '@hoodcloud/contracts/http/events';
import { sql } from 'kysely';
import { containsText } from '../db/contains-text.ts';
import type { Db } from '../db/database.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { storedReason } from '../http/reason-view.ts';
import { timestamp } from '../http/timestamps.ts';

/** Which events are wanted; of everything when all is left out. */
export interface EventFilter {
  /** Only of this rollout. */
  readonly rolloutId?: string;
  /** Only of this group and of its components' rollouts. */
  readonly groupId?: string;
  /** Only of this node. */
  readonly nodeId?: string;
}

export interface EventQuery extends EventFilter {
  /** Events after this `published_seq`. */
  readonly after: number;
  readonly limit: number;
  /** The last `limit` events instead of the first ones after `after`. */
  readonly newest?: boolean;
}

/** Published events in their order; an event without its number yet is not shown (C11). */
export async function listEvents(db: Db, { after, limit, ...only }: EventQuery): Promise<EventPage> {
  const order = only.newest ? 'desc' : 'asc';
  let select = selectEvents(db).where('e.published_seq', '>', after).orderBy('e.published_seq', order).limit(limit);
  if (only.rolloutId) select = select.where('e.rollout_id', '=', only.rolloutId);
  const { groupId } = only;
  if (groupId) {
    select = select.where((eb) =>
      eb.or([eb.and({ 'e.subject_type': 'rollout_group', 'e.subject_id': groupId }), eb('r.group_id', '=', groupId)]),
    );
  }
  if (only.nodeId) select = select.where('e.node_id', '=', only.nodeId);
  const rows = await select.execute();
  const items = (only.newest ? rows.reverse() : rows).map(eventView);
  return { items, next_after: items.at(-1)?.seq ?? after };
}

/** An event with the group that it is about; null: none. */
export interface PublishedEvent {
  readonly view: EventView;
  readonly groupId: string | null;
}

/** All published events after a number, in their order. */
export async function eventsAfter(db: Db, after: number, limit: number): Promise<PublishedEvent[]> {
  const rows = await selectEvents(db)
    .select((eb) => eb.fn.coalesce('g.id', 'r.group_id').as('group_id'))
    .where('e.published_seq', '>', after)
    .orderBy('e.published_seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ view: eventView(row), groupId: row.group_id }));
}

/** The newest published number; 0 before the first. */
export async function newestSeq(db: Db): Promise<number> {
  const { newest } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('published_seq').as('newest'))
    .executeTakeFirstOrThrow();
  return newest ?? 0;
}

/** One page of who did what, the newest first. */
export async function listAudit(db: Db, query: AuditQuery): Promise<Page<EventView>> {
  let select = selectEvents(db)
    .where('e.published_seq', 'is not', null)
    .orderBy('e.published_seq', 'desc')
    .limit(query.limit + 1);
  if (query.cursor) {
    select = select.where('e.published_seq', '<', Number(decodeCursor(query.cursor, ['number'])[0]));
  }
  // written as in the index `events_by_people`
  if (query.by === 'people') select = select.where(sql<boolean>`e.actor not like 'system:%'`);
  if (query.by === 'system') select = select.where(sql<boolean>`e.actor like 'system:%'`);
  if (query.actor) select = select.where(containsText('e.actor', query.actor));
  if (query.kind) select = select.where('e.kind', '=', query.kind);
  if (query.severity) select = select.where('e.severity', '=', query.severity);
  if (query.rollout_id) select = select.where('e.rollout_id', '=', query.rollout_id);
  if (query.node_id) select = select.where('e.node_id', '=', query.node_id);
  if (query.since) select = select.where('e.occurred_at', '>=', new Date(query.since));
  if (query.until) select = select.where('e.occurred_at', '<', new Date(query.until));
  const { chain_profile_id: chain } = query;
  if (chain) {
    select = select.where((eb) =>
      eb(eb.fn.coalesce('r.chain_profile_id', 'g.chain_profile_id', 'n.chain_profile_id'), '=', chain),
    );
  }
  return toPage(await select.execute(), query.limit, eventView, (row) => [row.published_seq ?? 0]);
}

function selectEvents(db: Db) {
  return db
    .selectFrom('events as e')
    .leftJoin('nodes as n', 'n.id', 'e.node_id')
    .leftJoin('rollouts as r', 'r.id', 'e.rollout_id')
    .leftJoin('rollout_groups as g', (join) =>
      join.onRef('g.id', '=', 'e.subject_id').on('e.subject_type', '=', 'rollout_group'),
    )
    .selectAll('e')
    .select((eb) => [
      'n.name as node_name',
      eb.fn.coalesce('r.chain_profile_id', 'g.chain_profile_id', 'n.chain_profile_id').as('chain_profile_id'),
    ]);
}

type EventRow = Awaited<ReturnType<ReturnType<typeof selectEvents>['executeTakeFirstOrThrow']>>;

function eventView(row: EventRow): EventView {
  return {
    seq: row.published_seq ?? 0,
    kind: row.kind as EventKind,
    subject_type: row.subject_type,
    subject_id: row.subject_id,
    rollout_id: row.rollout_id,
    chain_profile_id: row.chain_profile_id,
    node_id: row.node_id,
    node_name: row.node_name,
    reason: storedReason(row.reason, row.reason_params),
    severity: row.severity,
    actor: row.actor,
    data: row.data as Record<string, unknown>,
    occurred_at: timestamp(row.occurred_at),
  };
}
