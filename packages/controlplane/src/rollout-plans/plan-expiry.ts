import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';

/** Started plans are history; of one that nobody started the events tell. */
const KEPT = '30 days';
const INTERVAL_MS = 3_600_000;

/** Forgets plans that were never started, a month after they expired. */
export function planExpiry(db: Database): Reconciler {
  return {
    name: 'plan-expiry',
    intervalMs: INTERVAL_MS,
    wokenBy: null,
    runs: 'leader',
    run: async () => {
      const { numDeletedRows } = await db
        .deleteFrom('rollout_plans')
        .where('started_at', 'is', null)
        .where('expires_at', '<', sql<Date>`now() - ${KEPT}::interval`)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}
