import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** The database's clock in epoch milliseconds: it stamped what rules compare with now. */
export async function databaseNow(db: Db): Promise<number> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const now = rows[0]?.now;
  if (!now) throw new Error('the database did not tell the time');
  return now.getTime();
}
