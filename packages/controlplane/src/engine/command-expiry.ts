import { isOfAttempt } from '@hoodcloud/domain/agent-operation';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';
import { completeActivity } from './engine-outbox.ts';

/** An agent that told something within this time works on the command still: a stop that takes longer than planned (A7). */
const AT_WORK_WITHIN_MS = 60_000;
const EXTENSION_MS = 120_000;
const BATCH = 500;

/**
 * Ends commands whose deadline has passed (B5a): `expired`, and the waiting workflow is told. An agent that still reports
 * progress is not silent; its deadline moves on, since nothing may cut a node that flushes its database short (A7).
 */
export function commandExpiry(db: Database): Reconciler {
  return {
    name: 'command-expiry',
    intervalMs: 5000,
    wokenBy: null,
    runs: 'shared',
    run: async () => {
      await extendBusy(db);
      return expireSilent(db);
    },
  };
}

/** @returns how many deadlines were moved */
export async function extendBusy(db: Database): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('agent_commands')
    .set({ deadline_at: sql<Date>`clock_timestamp() + make_interval(secs => ${EXTENSION_MS / 1000})` })
    .where('status', 'in', ['pending', 'delivered', 'acknowledged'])
    .where('deadline_at', '<=', sql<Date>`clock_timestamp()`)
    .where('progress_at', '>', sql<Date>`clock_timestamp() - make_interval(secs => ${AT_WORK_WITHIN_MS / 1000})`)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** @returns how many commands were ended */
export async function expireSilent(db: Database): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const due = await tx
      .selectFrom('agent_commands')
      .select(['id', 'workflow_id', 'operation'])
      .where('status', 'in', ['pending', 'delivered', 'acknowledged'])
      .where('deadline_at', '<=', sql<Date>`clock_timestamp()`)
      .where((eb) =>
        eb.or([
          eb('progress_at', 'is', null),
          eb('progress_at', '<=', sql<Date>`clock_timestamp() - make_interval(secs => ${AT_WORK_WITHIN_MS / 1000})`),
        ]),
      )
      .limit(BATCH)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const { id, workflow_id, operation } of due) {
      await tx
        .updateTable('agent_commands')
        .set({ status: 'expired', ended_at: sql<Date>`clock_timestamp()` })
        .where('id', '=', id)
        .execute();
      if (isOfAttempt(operation)) await completeActivity(tx, workflow_id, id);
    }
    return due.length;
  });
}
