import { planBatches } from '@hoodcloud/domain/batch-plan';
import type { Reason } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { scopedNodes, storedBatchOrder } from './batch-order-of.ts';
import { databaseNow } from './database-clock.ts';
import { judgeTargets, type TargetSources, targetNodeIds } from './judge-targets.ts';
import { transitionRolloutNode } from './rollout-node-transition.ts';
import { lockRollout, type RolloutRow } from './rollout-row.ts';

/** Columns of a row that tell the way back. */
const PREVIOUS = [
  'previous_version',
  'previous_binary_url',
  'previous_checksum',
  'previous_artifact_member',
  'previous_installed_checksum',
  'previous_config_hashes',
] as const;
/** Batch of a node that was left out at the start: it belongs to none. */
const NO_BATCH = -1;

/**
 * Spec `ResolveRolloutTargets`: writes one row a node with its batch, ineligible ones as `skipped` with their reason.
 * Done once a rollout; a second call changes nothing.
 */
export async function resolveTargets(db: Database, sources: TargetSources, rolloutId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const rollout = await lockRollout(tx, rolloutId);
    if (rollout.targets_resolved_at !== null) return;
    const now = await databaseNow(tx);
    const nodeIds = await targetNodeIds(tx, rollout);
    const judged = await judgeTargets(tx, sources, rollout, nodeIds, now);
    const eligible = [...judged].filter(([, { kind }]) => kind === 'eligible').map(([id]) => id);
    const order = storedBatchOrder(rollout.batch_order);
    const batches = planBatches({
      strategy: rollout.strategy,
      batchSize: rollout.batch_size,
      canarySize: rollout.canary_size,
      seed: rollout.id,
      nodes: eligible,
      order,
      ...(order !== null && { facts: await scopedNodes(tx, eligible) }),
    });
    await insertRows(tx, rollout, [...judged.keys()], batches);
    for (const [nodeId, eligibility] of judged) {
      if (eligibility.kind === 'skipped') await skipNode(tx, rolloutId, nodeId, eligibility.reason);
    }
    await tx
      .updateTable('rollouts')
      .set({ targets_resolved_at: new Date(now), total_nodes: judged.size, updated_at: new Date(now) })
      .where('id', '=', rolloutId)
      .execute();
  });
}

/** Leaves a node out, with the reason. */
export async function skipNode(
  db: Db,
  rolloutId: string,
  nodeId: string,
  reason: Reason,
  actor = 'system:rollout',
): Promise<boolean> {
  return transitionRolloutNode(db, { rolloutId, nodeId, from: 'pending', to: 'skipped', reason, actor });
}

/** Writes a pending row for each node, with what is on it now, in one statement. Nodes without a batch belong to none. */
export async function insertRows(
  db: Db,
  rollout: RolloutRow,
  nodeIds: readonly string[],
  batches: ReadonlyMap<string, number>,
  marks: { readonly late: boolean } = { late: false },
): Promise<void> {
  const indexes = nodeIds.map((nodeId) => batches.get(nodeId) ?? NO_BATCH);
  await db
    .insertInto('rollout_nodes')
    .columns(['rollout_id', 'node_id', 'batch_index', 'late', ...PREVIOUS])
    .expression(
      db
        .selectFrom(
          sql<{ node_id: string; batch_index: number }>`unnest(${[...nodeIds]}::uuid[], ${indexes}::int[])`.as<'t'>(
            sql`t(node_id, batch_index)`,
          ),
        )
        .leftJoin(selectPrevious(db, rollout.binary_name).as('p'), 'p.node_id', 't.node_id')
        .select([
          sql<string>`${rollout.id}::uuid`.as('rollout_id'),
          't.node_id',
          't.batch_index',
          sql<boolean>`${marks.late}::boolean`.as('late'),
          'p.previous_version',
          'p.previous_binary_url',
          'p.previous_checksum',
          'p.previous_artifact_member',
          'p.previous_installed_checksum',
          sql`coalesce(p.previous_config_hashes, '{}')`.as('previous_config_hashes'),
        ]),
    )
    .onConflict((conflict) => conflict.columns(['rollout_id', 'node_id']).doNothing())
    .execute();
}

/** What is on the nodes now: the way back (spec `rollout_nodes.previous_*`). */
export async function previousVersions(
  db: Db,
  binaryName: string,
  nodeIds: readonly string[],
): Promise<Map<string, PreviousVersion>> {
  const rows = await selectPrevious(db, binaryName).where('c.node_id', 'in', nodeIds).execute();
  return new Map(
    rows.map(({ node_id, previous_config_hashes, ...previous }) => [
      node_id,
      { ...previous, previous_config_hashes: json(previous_config_hashes) },
    ]),
  );
}

/** A row for each node that has the component, in the columns that a rollout keeps it in. */
function selectPrevious(db: Db, binaryName: string) {
  return db
    .selectFrom('node_components as c')
    .leftJoin('node_config_state as s', (join) =>
      join.onRef('s.node_id', '=', 'c.node_id').onRef('s.binary_name', '=', 'c.binary_name'),
    )
    .select([
      'c.node_id',
      's.binary_version as previous_version',
      's.binary_url as previous_binary_url',
      sql<string | null>`coalesce(s.binary_checksum, c.running_checksum, c.installed_checksum)`.as('previous_checksum'),
      's.artifact_member as previous_artifact_member',
      'c.installed_checksum as previous_installed_checksum',
      sql<object>`coalesce(s.config_hashes, '{}')`.as('previous_config_hashes'),
    ])
    .where('c.binary_name', '=', binaryName);
}

interface PreviousVersion {
  readonly previous_version: string | null;
  readonly previous_binary_url: string | null;
  readonly previous_checksum: string | null;
  readonly previous_artifact_member: string | null;
  readonly previous_installed_checksum: string | null;
  readonly previous_config_hashes: ReturnType<typeof json>;
}
