import { sql } from 'kysely';

/** A power that was told longer ago says nothing any more. */
const STALE_AFTER = sql.lit('24 hours');

/**
 * What a node `n` votes with, as `numeric`: what a person said by the label `voting_power`, else what its metrics told within a
 * day; null when nobody knows.
 */
export const VOTING_POWER = sql<string | null>`
  case when n.labels->>'voting_power' ~ '^[0-9]{1,18}$' then (n.labels->>'voting_power')::numeric
       when n.voting_power_at > clock_timestamp() - ${STALE_AFTER}::interval then n.voting_power::numeric end`;
