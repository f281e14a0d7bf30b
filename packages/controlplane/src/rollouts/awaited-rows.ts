import type { Db } from '../db/database.ts';
import type { CommandEnd, ValidationEnd } from '../workflows/activity-types.ts';

/** How a command ended; null while it is open. */
export async function commandEnd(db: Db, commandId: string): Promise<CommandEnd | null> {
  const row = await db
    .selectFrom('agent_commands')
    .select(['ended_at', 'outcome', 'operation'])
    .where('id', '=', commandId)
    .executeTakeFirst();
  if (!row?.ended_at) return null;
  return row.outcome === 'completed' ? 'completed' : 'not_completed';
}

/** How a proof of health ended; null while it is open. */
export async function validationEnd(db: Db, validationId: string): Promise<ValidationEnd | null> {
  const row = await db
    .selectFrom('health_validations')
    .select('status')
    .where('id', '=', validationId)
    .executeTakeFirst();
  return !row || row.status === 'open' ? null : row.status;
}

/** What a waiting activity's id names, if its row has ended: the result to complete the activity with (B4a). */
export async function awaitedEnd(db: Db, activityId: string): Promise<CommandEnd | ValidationEnd | null> {
  return (await commandEnd(db, activityId)) ?? (await validationEnd(db, activityId));
}
