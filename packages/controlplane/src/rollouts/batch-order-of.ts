import { type BatchOrderView, batchOrderSchema } from '@hoodcloud/contracts/http/batch-order';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import type { BatchOrder } from '@hoodcloud/domain/batch-order';
import type { ScopedNode } from '@hoodcloud/domain/policy-scope';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** The part of a request that says who goes when. */
export function batchOrderOf(request: CreateRolloutRequest): BatchOrder {
  const { canary_node_ids, canary_selector, batches, ramp } = request;
  return { canary_node_ids, canary_selector, batches, ramp };
}

/** Reads `rollouts.batch_order`. */
export function storedBatchOrder(column: unknown): BatchOrderView | null {
  return column === null ? null : batchOrderSchema.parse(column);
}

/** What selectors ask of nodes, by id. */
export async function scopedNodes(db: Db, nodeIds: readonly string[]): Promise<Map<string, ScopedNode>> {
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'chain_profile_id', 'node_type', 'labels'])
    .where('id', '=', sql<string>`any(${[...nodeIds]}::uuid[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        chainProfileId: row.chain_profile_id,
        nodeType: row.node_type,
        labels: row.labels as ScopedNode['labels'],
      },
    ]),
  );
}
