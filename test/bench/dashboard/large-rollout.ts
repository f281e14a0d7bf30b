import { randomUUID } from 'node:crypto';
import type { MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertRollout } from '@hoodcloud/testkit/rows';
import { insertLargeFleet } from '../large-fleet.ts';

export interface LargeRollout {
  readonly rolloutId: string;
  /** Nodes under way with their open commands, in the order in which a list shows them. */
  readonly underway: readonly { readonly nodeId: string; readonly commandId: string; readonly attemptId: string }[];
}

const BATCH = 50;

/** A rollout over `nodes` nodes in batches of 50: a third of them done, one batch under way, the rest to come. */
export async function insertLargeRollout(database: MigratedDatabase, nodes: number): Promise<LargeRollout> {
  const { db, pool } = database;
  const done = Math.floor(nodes / 3 / BATCH) * BATCH;
  const rolloutId = await insertRollout(db, {
    status: 'running',
    batch_size: BATCH,
    total_nodes: nodes,
    succeeded_nodes: done,
    pending_nodes: nodes - done - BATCH,
    targets_resolved_at: new Date(),
    started_at: new Date(),
  });
  await insertLargeFleet(database, nodes);
  await pool.query(
    `
    insert into rollout_nodes (rollout_id, node_id, batch_index, status, upgrade_phase, attempt_count, requested_attempt, started_at)
    select $1::uuid, id, i / $2::int,
           case when i < $3::int then 'succeeded' when i < $4::int then 'in_progress' else 'pending' end,
           case when i < $3::int then 'COMPLETED' when i < $4::int then 'PREPARING' end,
           case when i < $4::int then 1 else 0 end, case when i < $4::int then 1 else 0 end,
           case when i < $4::int then now() end
      from (select id, row_number() over (order by name)::int - 1 as i from nodes) n`,
    [rolloutId, BATCH, done, done + BATCH],
  );
  await pool.query(`
    insert into agent_commands (node_id, rollout_id, rollout_node_id, attempt_id, operation, payload, status, workflow_id, deadline_at)
    select node_id, rollout_id, id, rollout_id || '.' || node_id || '.1', 'UPGRADE', ''::bytea, 'acknowledged', 'bench-' || id, now() + interval '1 day'
      from rollout_nodes where status = 'in_progress'`);
  await pool.query(`analyze`);
  const underway = await db
    .selectFrom('agent_commands as c')
    .innerJoin('nodes as n', 'n.id', 'c.node_id')
    .select(['c.node_id as nodeId', 'c.id as commandId', 'c.attempt_id as attemptId'])
    .orderBy('n.name')
    .execute();
  return { rolloutId, underway };
}

/** So many events of other nodes of the rollout, as a night brings them. */
export async function insertEvents({ pool }: MigratedDatabase, rolloutId: string, count: number): Promise<void> {
  const data = JSON.stringify({ from: 'PREPARING', to: 'STOPPED', phase: 'STOPPED', command_id: randomUUID() });
  await pool.query(
    `
    insert into events (kind, subject_type, subject_id, rollout_id, node_id, severity, actor, data)
    select 'node_upgrade_phase_changed', 'node', node_id, rollout_id, node_id, 'info', 'system:gateway', $1::jsonb
      from rollout_nodes where rollout_id = $2 and status = 'pending' order by random() limit $3`,
    [data, rolloutId, count],
  );
}
