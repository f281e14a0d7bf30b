import type { RolloutBatchesView } from '@hoodcloud/contracts/http/rollout-views';
import { batchRanges } from '@hoodcloud/domain/batch-ranges';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** How many nodes of each batch have which status; the nodes themselves are not read. */
export async function findRolloutBatches(db: Db, rolloutId: string): Promise<RolloutBatchesView> {
  const counts = await db
    .selectFrom('rollout_nodes')
    .select(['batch_index as batch', 'status', sql<number>`count(*)::int`.as('nodes')])
    .where('rollout_id', '=', rolloutId)
    .groupBy(['batch_index', 'status'])
    .execute();
  return {
    items: batchRanges(counts).map(({ first, last, nodes, counts }) => ({
      first_batch: first,
      last_batch: last,
      nodes,
      counts: counts.map((count) => ({ ...count })),
    })),
  };
}
