import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';

/** A request is sent again within minutes; after a day its key may stand for another one. */
const KEPT = '1 day';
const INTERVAL_MS = 600_000;

/** Forgets the answers of old creating requests. */
export function idempotencyExpiry(db: Database): Reconciler {
  return {
    name: 'idempotency-expiry',
    intervalMs: INTERVAL_MS,
    wokenBy: null,
    runs: 'leader',
    run: async () => {
      const { numDeletedRows } = await db
        .deleteFrom('idempotency_keys')
        .where('created_at', '<', sql<Date>`now() - ${KEPT}::interval`)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}
