import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';
import { registerChannels } from './channel-store.ts';
import type { OpenChannel } from './open-channels.ts';

const INTERVAL_MS = 30_000;
const DELIVERED_KEPT_DAYS = 7;
const DEAD_KEPT_DAYS = 90;

/** Keeps the channels' rows equal to the configuration, and forgets old messages beside the lines. */
export function channelRegistration(db: Database, channels: readonly OpenChannel[]): Reconciler {
  return {
    name: 'notification-channels',
    intervalMs: INTERVAL_MS,
    wokenBy: null,
    runs: 'leader',
    run: async () => {
      await registerChannels(
        db,
        channels.map(({ config }) => config),
      );
      const { numAffectedRows = 0n } = await sql`
        delete from notification_deliveries
         where (status = 'delivered' and ended_at < now() - make_interval(days => ${DELIVERED_KEPT_DAYS}))
            or (status = 'dead' and ended_at < now() - make_interval(days => ${DEAD_KEPT_DAYS}))`.execute(db);
      return Number(numAffectedRows);
    },
  };
}
