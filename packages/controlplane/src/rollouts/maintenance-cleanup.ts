import { reason } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';
import { leaveMaintenance } from '../nodes/node-transition.ts';
import { priorState } from './node-upgrade-steps.ts';

/** Spec "MaintenanceCleanup Loop": 30 minutes unless configured otherwise. */
export const MAINTENANCE_CLEANUP_MS = 30 * 60_000;

/** Releases nodes that were left in maintenance although their attempt is over (D5). */
export function maintenanceCleanup(db: Database, intervalMs = MAINTENANCE_CLEANUP_MS): Reconciler {
  return {
    name: 'maintenance-cleanup',
    intervalMs,
    wokenBy: null,
    runs: 'leader',
    run: () => releaseForgotten(db),
  };
}

/**
 * Only what a rollout put there, and only when its row for the node is terminal (an open one is revived by the sweep).
 * A node whose agent may still be at work - a command is open, or ended without a result and the component is not up -
 * is left alone: it may be stopping or migrating its database.
 * @returns how many nodes were released
 */
export async function releaseForgotten(db: Database): Promise<number> {
  const { rows } = await sql<{ node_id: string; rollout_id: string }>`
    select n.id as node_id, n.maintenance_owner as rollout_id
      from nodes n
      left join rollout_nodes r on r.rollout_id = n.maintenance_owner and r.node_id = n.id
     where n.state = 'maintenance'
       and (r.id is null or r.status in ('succeeded', 'failed', 'rolled_back', 'skipped'))
       and not exists (
         select 1 from agent_commands c
          where c.node_id = n.id and c.operation in ('UPGRADE', 'COMPENSATE')
            and (c.status in ('pending', 'delivered', 'acknowledged')
                 or (c.rollout_node_id = r.id and c.outcome is null and c.late_result is null
                     and not exists (select 1 from node_components k
                                      where k.node_id = n.id and k.active and k.updated_at > c.ended_at))))`.execute(
    db,
  );
  let released = 0;
  for (const { node_id, rollout_id } of rows) {
    const change = {
      nodeId: node_id,
      rolloutId: rollout_id,
      reason: reason('maintenance_released'),
      actor: 'system:maintenance-cleanup',
      to: await priorState(db, node_id),
    };
    if (await db.transaction().execute((tx) => leaveMaintenance(tx, change))) released += 1;
  }
  return released;
}
