import { UNAVAILABLE_STATES } from '@hoodcloud/domain/availability';
import { type RawBuilder, sql } from 'kysely';
import { OFFLINE_AFTER_MS } from '../nodes/liveness.ts';

/** Joins to `nodes n` who is being changed, by any rollout. */
export const FLYING = sql`
  left join (select distinct node_id from rollout_nodes where status in ('in_progress', 'validating')) flying
    on flying.node_id = n.id`;

/** `isUnavailable` of domain/availability.ts, in the database's words; of nodes `n` with `FLYING`. */
export function isUnavailable(now: Date): RawBuilder<boolean> {
  const online = new Date(now.getTime() - OFFLINE_AFTER_MS);
  return sql`(flying.node_id is not null or n.state = any(${[...UNAVAILABLE_STATES]}::text[])
    or n.last_heartbeat_at is null or n.last_heartbeat_at <= ${online})`;
}
