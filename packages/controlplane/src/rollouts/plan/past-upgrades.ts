import type { PastUpgrades } from '@hoodcloud/domain/plan-estimate';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/** Later ones tell more about the next than all there ever were. */
const MOST_UPGRADES = 500;

/** Medians over the latest succeeded upgrades of a binary on a chain; null when there was none. */
export async function pastUpgrades(db: Db, chainProfileId: string, binaryName: string): Promise<PastUpgrades | null> {
  const { rows } = await sql<{ upgrades: number; work: number | null; downtime: number | null }>`
    select count(*)::int as upgrades,
           percentile_cont(0.5) within group (order by work) as work,
           percentile_cont(0.5) within group (order by downtime_ms) as downtime
      from (select n.downtime_ms,
                   greatest(0, n.duration_ms
                     - case when r.skip_validation or n.left_stopped then 0 else r.health_wait_ms end) as work
              from rollout_nodes n join rollouts r on r.id = n.rollout_id
             where r.chain_profile_id = ${chainProfileId} and r.binary_name = ${binaryName}
               and n.status = 'succeeded' and n.attempt_direction = 'upgrade'
               and n.attempt_count > 0 and n.duration_ms is not null
             order by n.ended_at desc limit ${MOST_UPGRADES}) latest`.execute(db);
  const [row] = rows;
  if (!row || row.work === null) return null;
  return {
    upgrades: row.upgrades,
    workMs: Math.round(row.work),
    downtimeMs: row.downtime === null ? null : Math.round(row.downtime),
  };
}
