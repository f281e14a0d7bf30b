import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';
import type { RolloutRow } from './rollout-row.ts';

type Counters = Pick<
  RolloutRow,
  'total_nodes' | 'succeeded_nodes' | 'failed_nodes' | 'pending_nodes' | 'skipped_nodes'
>;

/**
 * Makes the rollout's counters equal its rows (spec `rollouts` counters, C5) and tells it as an event when they changed.
 * A node that the agent undid counts as failed, one that a person rolled back doesn't.
 */
export async function recountRollout(db: Db, rollout: RolloutRow): Promise<RolloutRow> {
  const { rows } = await sql<Counters>`
    select count(*)::int as total_nodes,
           (count(*) filter (where status = 'succeeded'))::int as succeeded_nodes,
           (count(*) filter (where status = 'failed' or (status = 'rolled_back' and attempt_direction = 'upgrade')))::int
             as failed_nodes,
           (count(*) filter (where status in ('pending', 'in_progress', 'validating')))::int as pending_nodes,
           (count(*) filter (where status = 'skipped'))::int as skipped_nodes
      from rollout_nodes where rollout_id = ${rollout.id}`.execute(db);
  const counters = rows[0];
  if (!counters || sameCounters(counters, rollout)) return rollout;
  await db
    .updateTable('rollouts')
    .set({ ...counters })
    .where('id', '=', rollout.id)
    .execute();
  await appendEvent(db, {
    kind: 'rollout_progress',
    subjectType: 'rollout',
    subjectId: rollout.id,
    rolloutId: rollout.id,
    actor: 'system:rollout',
    data: { ...counters },
  });
  return { ...rollout, ...counters };
}

function sameCounters(a: Counters, b: Counters): boolean {
  return (
    a.total_nodes === b.total_nodes &&
    a.succeeded_nodes === b.succeeded_nodes &&
    a.failed_nodes === b.failed_nodes &&
    a.pending_nodes === b.pending_nodes &&
    a.skipped_nodes === b.skipped_nodes
  );
}
