import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Reconciler, Services } from '../feature.ts';

/** Raw heartbeats serve validations, which last minutes; a day lets people look back. */
const KEEP_MS = 24 * 3_600_000;
const KEEP_SESSIONS_MS = 30 * 24 * 3_600_000;
/** One statement deletes so many, so that it never holds locks for long. */
const BATCH = 10_000;

/** Prunes raw heartbeats and ended sessions by age; heartbeats an open validation counts are younger by far, and kept in any case. */
export function heartbeatRetention({ db }: Services): Reconciler {
  return {
    name: 'heartbeat-retention',
    intervalMs: 60_000,
    wokenBy: null,
    runs: 'leader',
    run: async (now) => {
      const { numAffectedRows } = await sql`
        delete from node_heartbeats where id in (
          select h.id from node_heartbeats h
           where h.received_at < ${new Date(now.getTime() - KEEP_MS)}
             and not exists (select 1 from health_validations v
                              where v.node_id = h.node_id and v.status = 'open' and v.since < h.received_at)
           order by h.received_at limit ${BATCH})`.execute(db);
      return Number(numAffectedRows ?? 0) + (await pruneSessions(db, now));
    },
  };
}

/** A fleet that reconnects makes a row each time; the open ones and a month of ended ones stay. */
async function pruneSessions(db: Db, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from agent_sessions where id in (
      select id from agent_sessions where ended_at < ${new Date(now.getTime() - KEEP_SESSIONS_MS)} limit ${BATCH})`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}
