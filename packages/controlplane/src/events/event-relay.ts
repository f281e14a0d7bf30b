import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';

/** Channel that is notified when events got their numbers. */
export const EVENTS_PUBLISHED = 'events_published';

/** Number of the advisory lock that makes publishing one at a time. */
const PUBLISH_LOCK = 4_711_001;
const BATCH = 1000;

/**
 * Gives waiting events their `published_seq`. Ids of concurrent transactions commit out of order, so a reader that
 * follows ids would miss the late ones; numbers given here only ever grow in the order readers see them (C11).
 * @returns how many events were published
 */
export async function publishEvents(db: Database): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${PUBLISH_LOCK})`.execute(tx);
    const { numAffectedRows = 0n } = await sql`
      with waiting as (
        select id, row_number() over (order by id) as place from events where published_seq is null order by id limit ${BATCH}
      )
      update events set published_seq = (select coalesce(max(published_seq), 0) from events) + waiting.place
        from waiting where events.id = waiting.id`.execute(tx);
    if (numAffectedRows > 0n) await sql`select pg_notify(${EVENTS_PUBLISHED}, '')`.execute(tx);
    return Number(numAffectedRows);
  });
}

/** The event relay as a loop of the reconciler. */
export function eventRelay(db: Database): Reconciler {
  return {
    name: 'event-relay',
    intervalMs: 5000,
    wokenBy: 'events',
    runs: 'leader',
    run: () => publishEvents(db),
  };
}
