import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** The last event that a consumer has had; 0 for one that has had none, so that it begins with the first event there is. */
export async function readCursor(db: Db, consumer: string): Promise<number> {
  const row = await db
    .selectFrom('event_cursors')
    .select('last_seq')
    .where('consumer', '=', consumer)
    .executeTakeFirst();
  return row?.last_seq ?? 0;
}

/** As `readCursor`, but one that has had none begins with what comes from now on. */
export async function cursorFromNow(db: Db, consumer: string): Promise<number> {
  await db
    .insertInto('event_cursors')
    .columns(['consumer', 'last_seq'])
    .expression((eb) =>
      eb
        .selectFrom('events')
        .select((e) => [
          e.val(consumer).as('consumer'),
          e.fn.coalesce(e.fn.max('published_seq'), e.val(0)).as('last_seq'),
        ]),
    )
    .onConflict((conflict) => conflict.column('consumer').doNothing())
    .execute();
  return readCursor(db, consumer);
}

/** Remembers that a consumer has had everything up to `lastSeq`; the place never goes back. */
export async function moveCursor(db: Db, consumer: string, lastSeq: number): Promise<void> {
  await db
    .insertInto('event_cursors')
    .values({ consumer, last_seq: lastSeq })
    .onConflict((conflict) =>
      conflict.column('consumer').doUpdateSet({
        last_seq: sql`greatest(event_cursors.last_seq, excluded.last_seq)`,
        updated_at: sql`now()`,
      }),
    )
    .execute();
}

/** How many published events a consumer has not had yet. */
export async function countWaiting(db: Db, after: number): Promise<number> {
  const { waiting } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .where('published_seq', '>', after)
    .executeTakeFirstOrThrow();
  return waiting;
}
