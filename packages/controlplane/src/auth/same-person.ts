import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** Whether an actor is somebody: a key's holder or who signed in, not the control plane's own parts nor a signal by hand. */
export function isPerson(actor: string): boolean {
  return actor.startsWith('key:') || actor.startsWith('user:');
}

/**
 * Whether one person may be behind both actors: they are the same, or one is an API key that the other made, at whatever
 * remove, since who makes a key has held its secret.
 */
export async function isSamePerson(db: Db, one: string, other: string): Promise<boolean> {
  return one === other || (await made(db, one, other)) || (await made(db, other, one));
}

/** Whether `maker` is among those who made the key `actor`, its maker's key, and so on. */
async function made(db: Db, maker: string, actor: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with recursive makers(actor) as (
      select created_by from api_keys where 'key:' || name = ${actor}
      union
      select k.created_by from api_keys k join makers m on 'key:' || k.name = m.actor
    )
    select exists (select from makers where actor = ${maker}) as found`.execute(db);
  return rows[0]?.found ?? false;
}
