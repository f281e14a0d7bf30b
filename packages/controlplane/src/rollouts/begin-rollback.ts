import { effectiveControls } from '@hoodcloud/domain/effective-controls';
import type { Reason } from '@hoodcloud/domain/reasons';
import { isEndedRollout } from '@hoodcloud/domain/rollout-status';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { loadControls } from './load-rollout-snapshot.ts';
import { actorOf } from './rollout-progress.ts';
import { lockRollout, type RolloutRow } from './rollout-row.ts';
import { transitionRollout } from './rollout-transition.ts';

/**
 * Turns a rollout round (C3, C10a): status `running`, direction `rollback`, and the next attempt requested of every node
 * that succeeded and that no newer rollout has changed since. A second call changes nothing.
 */
export async function beginRollback(db: Database, rolloutId: string, reason: Reason): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const rollout = await lockRollout(tx, rolloutId);
    if (rollout.direction === 'rollback' && !isEndedRollout(rollout.status)) return;
    // The last control wins (C6): a cancel may have come since the rollback was decided.
    if (effectiveControls(await loadControls(tx, rolloutId)).rollback === null) return;
    await turnRound(tx, rollout, reason);
    await sql`
      update rollout_nodes as mine
         set requested_attempt = attempt_count + 1, attempt_direction = 'rollback', offered_at = null, updated_at = now()
       where rollout_id = ${rolloutId} and status = 'succeeded'
         and not exists (select 1 from rollout_nodes newer join rollouts r on r.id = newer.rollout_id
                          where newer.node_id = mine.node_id and newer.attempt_count > 0
                            and r.binary_name = ${rollout.binary_name} and newer.started_at > mine.ended_at
                            and newer.rollout_id <> mine.rollout_id)`.execute(tx);
  });
}

/** Spec "Full Rollout Rollback": the rollout is paused first, then runs the other way. */
async function turnRound(db: Db, rollout: RolloutRow, reason: Reason): Promise<void> {
  const change = { rolloutId: rollout.id, reason, actor: actorOf(reason) };
  let from = rollout.status;
  if (from === 'running') {
    await transitionRollout(db, { ...change, from, to: 'paused' });
    from = 'paused';
  }
  await transitionRollout(db, { ...change, from, to: 'running', direction: 'rollback' });
}
