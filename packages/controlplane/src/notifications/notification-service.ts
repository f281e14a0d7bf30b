import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { EVENTS_PUBLISHED } from '../events/event-relay.ts';

/** Orders a test message. @returns the id of the delivery that tells how it went */
export async function orderTest(db: Db, channel: string, actor: string): Promise<string> {
  const { id } = await db
    .insertInto('notification_deliveries')
    .values({ channel, status: 'due', ordered_by: actor })
    .returning('id')
    .executeTakeFirstOrThrow();
  await wakeChannels(db);
  return id;
}

/** Orders dead letters to be sent once more: one, or all of a channel. @returns how many */
export async function orderResend(db: Db, which: { id: string } | { channel: string }, actor: string): Promise<number> {
  let update = db
    .updateTable('notification_deliveries')
    .set({ status: 'due', ordered_by: actor, ended_at: null })
    .where('status', '=', 'dead')
    .where('event_seq', 'is not', null);
  update = 'id' in which ? update.where('id', '=', which.id) : update.where('channel', '=', which.channel);
  const { numUpdatedRows } = await update.executeTakeFirst();
  await wakeChannels(db);
  return Number(numUpdatedRows);
}

async function wakeChannels(db: Db): Promise<void> {
  await sql`select pg_notify(${EVENTS_PUBLISHED}, '')`.execute(db);
}
