import { isLate, lateBatches } from '@hoodcloud/domain/late-nodes';
import { reason } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';
import { isOnline } from '../nodes/liveness.ts';
import { scopedNodes, storedBatchOrder } from './batch-order-of.ts';
import { targetNodeIds } from './judge-targets.ts';
import { insertRows } from './resolve-targets.ts';
import type { RolloutRow } from './rollout-row.ts';

/**
 * Gives late nodes their place after all others, each once, with an event. What was left out is final (spec
 * "NodeUpgradeStatus"), so its row goes and the node begins a new one; its history has both.
 * @param rollout locked
 * @param now epoch milliseconds by the database's clock
 * @returns how many were picked up
 */
export async function pickUpLateNodes(tx: Db, rollout: RolloutRow, now: number): Promise<number> {
  const late = await findLate(tx, rollout, new Date(now));
  if (late.size === 0) return 0;
  const nodeIds = [...late.keys()];
  const batches = lateBatches(
    {
      strategy: rollout.strategy,
      batchSize: rollout.batch_size,
      canarySize: rollout.canary_size,
      seed: rollout.id,
      nodes: nodeIds,
      order: storedBatchOrder(rollout.batch_order),
      facts: await scopedNodes(tx, nodeIds),
    },
    await lastBatch(tx, rollout.id),
  );
  await tx
    .deleteFrom('rollout_nodes')
    .where('rollout_id', '=', rollout.id)
    .where('node_id', '=', sql<string>`any(${nodeIds}::uuid[])`)
    .execute();
  await insertRows(tx, rollout, nodeIds, batches, { late: true });
  for (const [nodeId, came] of late) await tell(tx, rollout.id, nodeId, came, batches.get(nodeId) ?? 0);
  return late.size;
}

type Came = 'joined' | 'came back';

/** By node id: how it came. */
async function findLate(tx: Db, rollout: RolloutRow, now: Date): Promise<Map<string, Came>> {
  const ids = await targetNodeIds(tx, rollout);
  const rows = await tx
    .selectFrom('nodes as n')
    .leftJoin('rollout_nodes as r', (join) => join.onRef('r.node_id', '=', 'n.id').on('r.rollout_id', '=', rollout.id))
    .select([
      'n.id',
      'n.last_heartbeat_at',
      'r.id as row_id',
      'r.status',
      'r.status_reason',
      'r.late',
      'r.attempt_count',
    ])
    .where('n.id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('n.joined_at', 'is not', null)
    // what its agent was asked already belongs to the row
    .where((where) =>
      where.not(
        where.exists(where.selectFrom('agent_commands as c').select('c.id').whereRef('c.rollout_node_id', '=', 'r.id')),
      ),
    )
    .orderBy('n.id')
    .execute();
  return new Map(
    rows.flatMap((one): [string, Came][] => {
      const { status, status_reason: statusReason } = one;
      const row = status === null ? null : { status, statusReason, late: one.late ?? false };
      if (!isLate({ online: isOnline(one.last_heartbeat_at, now), row })) return [];
      return [[one.id, row === null || statusReason === 'never_joined' ? 'joined' : 'came back']];
    }),
  );
}

/** Null: there was none. */
async function lastBatch(tx: Db, rolloutId: string): Promise<number | null> {
  const { last } = await tx
    .selectFrom('rollout_nodes')
    .select((select) => select.fn.max('batch_index').as('last'))
    .where('rollout_id', '=', rolloutId)
    .where('batch_index', '>=', 0)
    .executeTakeFirstOrThrow();
  return last;
}

async function tell(tx: Db, rolloutId: string, nodeId: string, came: Came, batch: number): Promise<void> {
  const why = reason('picked_up_late', { came });
  await tx
    .updateTable('rollout_nodes')
    .set({ status_reason: why.code, status_reason_params: json(why.params) })
    .where('rollout_id', '=', rolloutId)
    .where('node_id', '=', nodeId)
    .execute();
  await appendEvent(tx, {
    kind: 'node_upgrade_picked_up',
    subjectType: 'node',
    subjectId: nodeId,
    rolloutId,
    nodeId,
    reason: why,
    actor: 'system:rollout',
    data: { batch },
  });
}
