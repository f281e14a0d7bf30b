import type { ChannelConfig } from '@hoodcloud/contracts/files/notification-channels';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { moveCursor } from '../events/event-cursor.ts';

/** The name under which a channel's place in the events is kept. */
export function cursorOf(channel: string): string {
  return `channel:${channel}`;
}

/**
 * Makes the rows equal the configuration. A channel that is new begins with what happens from now on; one that is no longer
 * configured keeps its place and its dead letters.
 */
export async function registerChannels(db: Database, configs: readonly ChannelConfig[]): Promise<void> {
  const names = configs.map(({ name }) => name);
  await db.transaction().execute(async (tx) => {
    for (const config of configs) await registerChannel(tx, config);
    await tx
      .updateTable('notification_channels')
      .set({ configured: false })
      .where('name', '<>', sql<string>`all(${names}::text[])`)
      .execute();
  });
}

async function registerChannel(tx: Db, config: ChannelConfig): Promise<void> {
  const { name, type, events = null, chains = null, min_severity, max_per_minute = null } = config;
  const settings = { type, filter: json({ events, chains, min_severity, max_per_minute }), configured: true };
  const known = await tx.selectFrom('notification_channels').select('name').where('name', '=', name).executeTakeFirst();
  if (known) {
    await tx.updateTable('notification_channels').set(settings).where('name', '=', name).execute();
    return;
  }
  await tx
    .insertInto('notification_channels')
    .values({ name, ...settings })
    .execute();
  const { newest } = await tx
    .selectFrom('events')
    .select((eb) => eb.fn.max('published_seq').as('newest'))
    .executeTakeFirstOrThrow();
  await moveCursor(tx, cursorOf(name), newest ?? 0);
}

export interface ChannelState {
  readonly attempts: number;
  /** The pause after a failed try is not over. */
  readonly resting: boolean;
  /** Messages sent in the running minute. */
  readonly sentInMinute: number;
}

/** Null: the channel is not registered yet. */
export async function readChannelState(db: Db, name: string): Promise<ChannelState | null> {
  const row = await db
    .selectFrom('notification_channels')
    .select([
      'attempts',
      sql<boolean>`next_attempt_at > clock_timestamp()`.as('resting'),
      sql<number>`case when window_started_at > clock_timestamp() - interval '1 minute' then sent_in_window else 0 end`.as(
        'sentInMinute',
      ),
    ])
    .where('name', '=', name)
    .executeTakeFirst();
  return row ?? null;
}

/** A message was taken: the channel works, and its place moves on when the message came from the line. */
export async function noteDelivered(db: Database, name: string, lastSeq: number | null): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (lastSeq !== null) await moveCursor(tx, cursorOf(name), lastSeq);
    const sameWindow = sql<boolean>`window_started_at > clock_timestamp() - interval '1 minute'`;
    await tx
      .updateTable('notification_channels')
      .set({
        attempts: 0,
        next_attempt_at: sql`clock_timestamp()`,
        failing_since: null,
        last_error: null,
        last_delivered_at: sql`clock_timestamp()`,
        window_started_at: sql`case when ${sameWindow} then window_started_at else clock_timestamp() end`,
        sent_in_window: sql`case when ${sameWindow} then sent_in_window + 1 else 1 end`,
      })
      .where('name', '=', name)
      .execute();
  });
}

/** A try failed: the same message is tried again after the pause. */
export async function noteFailure(
  db: Db,
  name: string,
  error: string,
  attempts: number,
  pauseMs: number,
): Promise<void> {
  await db
    .updateTable('notification_channels')
    .set({
      attempts,
      last_error: error,
      failing_since: sql`coalesce(failing_since, clock_timestamp())`,
      next_attempt_at: sql`clock_timestamp() + make_interval(secs => ${pauseMs / 1000})`,
    })
    .where('name', '=', name)
    .execute();
}

/** Gives up on messages of the line: they become dead letters, and the line goes on after them. */
export async function buryEvents(
  db: Database,
  name: string,
  seqs: readonly number[],
  outcome: { readonly error: string; readonly attempts: number; readonly pauseMs: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const letter = { channel: name, status: 'dead' as const, attempts: outcome.attempts, last_error: outcome.error };
    await tx
      .insertInto('notification_deliveries')
      .values(seqs.map((event_seq) => ({ ...letter, event_seq, ended_at: new Date() })))
      .execute();
    await moveCursor(tx, cursorOf(name), Math.max(...seqs));
    await noteFailure(tx, name, outcome.error, 0, outcome.pauseMs);
  });
}
