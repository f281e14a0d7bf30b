import { messageIdOf } from '@hoodcloud/contracts/events/event-message';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { listEvents } from '../events/event-read-model.ts';
import { timestamp } from '../http/timestamps.ts';
import { noteDelivered } from './channel-store.ts';
import { DeliveryError, type NotificationChannel, type NotificationMessage } from './notification-message.ts';
import { countNotification } from './notification-metrics.ts';

const BATCH = 20;

/**
 * Sends what a person ordered: tests, and dead letters once more. One try each, at once, whatever pause the line keeps: who
 * orders wants to know whether it works now, and one that is taken wakes the line.
 * @returns how many were tried
 */
export async function sendOrdered(db: Database, name: string, channel: NotificationChannel): Promise<number> {
  const due = await db
    .selectFrom('notification_deliveries')
    .selectAll()
    .where('channel', '=', name)
    .where('status', '=', 'due')
    .orderBy('created_at')
    .limit(BATCH)
    .execute();
  for (const row of due) {
    const error = await tryOnce(channel, await messageOf(db, row));
    await db
      .updateTable('notification_deliveries')
      .set({
        status: error ? 'dead' : 'delivered',
        attempts: row.attempts + 1,
        last_error: error?.message ?? null,
        ended_at: sql`clock_timestamp()`,
      })
      .where('id', '=', row.id)
      .execute();
    if (!error) await noteDelivered(db, name, null);
    countNotification(name, error ? 'dead' : 'delivered');
  }
  return due.length;
}

async function tryOnce(
  channel: NotificationChannel,
  message: NotificationMessage | null,
): Promise<DeliveryError | null> {
  if (!message) return new DeliveryError('its event is no longer there');
  try {
    await channel.send(message);
    return null;
  } catch (error) {
    if (error instanceof DeliveryError) return error;
    throw error;
  }
}

interface OrderedRow {
  readonly id: string;
  readonly event_seq: number | null;
  readonly ordered_by: string | null;
  readonly created_at: Date;
}

async function messageOf(db: Database, row: OrderedRow): Promise<NotificationMessage | null> {
  if (row.event_seq === null) {
    const orderedAt = timestamp(row.created_at);
    return { kind: 'test', id: `test_${row.id}`, orderedBy: row.ordered_by ?? 'nobody', orderedAt };
  }
  const [event] = (await listEvents(db, { after: row.event_seq - 1, limit: 1 })).items;
  return event?.seq === row.event_seq ? { kind: 'event', id: messageIdOf(event), event } : null;
}
