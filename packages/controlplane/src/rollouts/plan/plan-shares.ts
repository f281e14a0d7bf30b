import type { PlanShareView, RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import { largestShares, ZONE_LABEL } from '@hoodcloud/domain/plan-share';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/** How much of the fleet and of each zone is down at once, from the nodes' labels. */
export async function planShares(
  db: Db,
  request: CreateRolloutRequest,
  batches: RolloutPlanView['batches'],
): Promise<PlanShareView[]> {
  const { rows } = await sql<{ id: string; zone: string | null }>`
    select id, labels->>${ZONE_LABEL} as zone from nodes
     where chain_profile_id = ${request.chain_profile_id} and node_type = ${request.node_type}
       and state not in ('terminated', 'failed')`.execute(db);
  const zones = new Map(rows.map(({ id, zone }) => [id, zone]));
  const nodesByZone = new Map<string, number>();
  for (const zone of zones.values()) if (zone !== null) nodesByZone.set(zone, (nodesByZone.get(zone) ?? 0) + 1);
  const shares = largestShares({
    batches: batches.map(({ nodes }) => nodes.map(({ node_id }) => zones.get(node_id) ?? null)),
    maxInFlight: request.max_in_flight ?? null,
    nodes: zones.size,
    nodesByZone,
  });
  return shares.map(({ zone, batchIndex, down, of }) => ({
    measure: 'nodes',
    zone,
    batch_index: batchIndex,
    down,
    total: of,
  }));
}
