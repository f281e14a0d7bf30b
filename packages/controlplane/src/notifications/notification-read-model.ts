import { type EventKind, NOTIFICATION_EVENTS } from '@hoodcloud/contracts/events/event-kinds';
import type { Page, PageQuery } from '@hoodcloud/contracts/http/common';
import type { NotificationChannelView, NotificationDeliveryView } from '@hoodcloud/contracts/http/notifications';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { readCursor } from '../events/event-cursor.ts';
import { listEvents } from '../events/event-read-model.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { timestamp, timestampOrNull } from '../http/timestamps.ts';
import { type ChannelFilter, wants } from './channel-filter.ts';
import { cursorOf } from './channel-store.ts';

/** How far is looked for what waits. */
const LOOK_AHEAD = 1000;

/** Every channel that is or was configured, by name. */
export async function listChannels(db: Db): Promise<NotificationChannelView[]> {
  const rows = await selectChannels(db).orderBy('c.name').execute();
  return Promise.all(rows.map((row) => channelView(db, row)));
}

/** One channel; null when no configuration ever named it. */
export async function findChannel(db: Db, name: string): Promise<NotificationChannelView | null> {
  const row = await selectChannels(db).where('c.name', '=', name).executeTakeFirst();
  return row ? channelView(db, row) : null;
}

function selectChannels(db: Db) {
  return db
    .selectFrom('notification_channels as c')
    .selectAll('c')
    .select((eb) =>
      eb
        .selectFrom('notification_deliveries as d')
        .whereRef('d.channel', '=', 'c.name')
        .where('d.status', '=', 'dead')
        .select((count) => count.fn.countAll<number>().as('dead'))
        .as('dead_letters'),
    );
}

type ChannelRow = Awaited<ReturnType<ReturnType<typeof selectChannels>['executeTakeFirstOrThrow']>>;
interface StoredFilter {
  readonly events: 'all' | EventKind[] | null;
  readonly chains: string[] | null;
  readonly min_severity: ChannelFilter['min_severity'];
  readonly max_per_minute: number | null;
}

async function channelView(db: Db, row: ChannelRow): Promise<NotificationChannelView> {
  const { events, chains, min_severity, max_per_minute } = row.filter as StoredFilter;
  const { items } = await listEvents(db, { after: await readCursor(db, cursorOf(row.name)), limit: LOOK_AHEAD });
  const filter = { min_severity, ...(events && { events }), ...(chains && { chains }) };
  const failing = row.failing_since !== null;
  return {
    name: row.name,
    type: row.type as NotificationChannelView['type'],
    events: events ?? [...NOTIFICATION_EVENTS],
    chains,
    min_severity,
    max_per_minute,
    configured: row.configured,
    failing_since: timestampOrNull(row.failing_since),
    last_error: row.last_error,
    next_attempt_at: failing ? timestamp(row.next_attempt_at) : null,
    last_delivered_at: timestampOrNull(row.last_delivered_at),
    waiting: items.filter((event) => wants(filter, event)).length,
    dead_letters: row.dead_letters ?? 0,
  };
}

export interface DeliveryFilter extends PageQuery {
  readonly channel?: string | undefined;
  readonly status?: NotificationDeliveryView['status'] | undefined;
}

/** One page of messages beside the lines, newest first. */
export async function listDeliveries(db: Db, filter: DeliveryFilter): Promise<Page<NotificationDeliveryView>> {
  let select = selectDeliveries(db)
    .orderBy('d.created_at', 'desc')
    .orderBy('d.id', 'desc')
    .limit(filter.limit + 1);
  if (filter.channel) select = select.where('d.channel', '=', filter.channel);
  if (filter.status) select = select.where('d.status', '=', filter.status);
  if (filter.cursor) {
    const [createdAt, id] = decodeCursor(filter.cursor, ['time', 'uuid']);
    select = select.where(sql<boolean>`(d.created_at, d.id) < (${createdAt}::timestamptz, ${id}::uuid)`);
  }
  return toPage(await select.execute(), filter.limit, deliveryView, (row) => [row.created_at_text, row.id]);
}

/** One message; null when there is none. */
export async function findDelivery(db: Db, id: string): Promise<NotificationDeliveryView | null> {
  const row = await selectDeliveries(db).where('d.id', '=', id).executeTakeFirst();
  return row ? deliveryView(row) : null;
}

function selectDeliveries(db: Db) {
  return db
    .selectFrom('notification_deliveries as d')
    .leftJoin('events as e', 'e.published_seq', 'd.event_seq')
    .selectAll('d')
    .select(['e.kind as event_kind', 'e.rollout_id', sql<string>`d.created_at::text`.as('created_at_text')]);
}

type DeliveryRow = Awaited<ReturnType<ReturnType<typeof selectDeliveries>['executeTakeFirstOrThrow']>>;

function deliveryView(row: DeliveryRow): NotificationDeliveryView {
  return {
    id: row.id,
    channel: row.channel,
    event_seq: row.event_seq,
    event_kind: row.event_kind as EventKind | null,
    rollout_id: row.rollout_id,
    status: row.status,
    attempts: row.attempts,
    last_error: row.last_error,
    ordered_by: row.ordered_by,
    created_at: timestamp(row.created_at),
    ended_at: timestampOrNull(row.ended_at),
  };
}
