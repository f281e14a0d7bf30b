import type { RolloutNodeFacts } from '@hoodcloud/domain/rollout-snapshot';
import type { Db } from '../db/database.ts';
import { NODE_FACTS, nodeFacts } from './rollout-facts.ts';

/**
 * What a decision knows of the rows of a rollout, batch by batch.
 * @param onlyNodeId the node whose start is asked for: of the others only those in flight, and one that was begun; null: all
 */
export async function loadNodeFacts(db: Db, rolloutId: string, onlyNodeId: string | null): Promise<RolloutNodeFacts[]> {
  const rows = await db
    .selectFrom('rollout_nodes')
    .select(NODE_FACTS)
    .where('rollout_id', '=', rolloutId)
    .$if(onlyNodeId !== null, (query) =>
      query.where((where) =>
        where.or([
          where('node_id', '=', onlyNodeId ?? ''),
          where('status', 'in', ['in_progress', 'validating']),
          where('node_id', '=', oneBegun(db, rolloutId)),
        ]),
      ),
    )
    .orderBy('batch_index')
    .orderBy('node_id')
    .execute();
  return rows.map(nodeFacts);
}

/** A node that was begun stands for all of them: rules ask only whether there is one. */
function oneBegun(db: Db, rolloutId: string) {
  return db
    .selectFrom('rollout_nodes')
    .select('node_id')
    .where('rollout_id', '=', rolloutId)
    .where('attempt_count', '>', 0)
    .limit(1);
}
