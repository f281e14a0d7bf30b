import type { Reason } from '@hoodcloud/domain/reasons';
import { ROLLOUT_TRANSITIONS, type RolloutStatus } from '@hoodcloud/domain/rollout-status';
import { canTransition } from '@hoodcloud/domain/transition';
import type { Database, Db } from '../db/database.ts';
import { loadControls } from './load-rollout-snapshot.ts';
import { recountRollout } from './recount-rollout.ts';
import { skipNode } from './resolve-targets.ts';
import { actorOf, reasonToRun } from './rollout-progress.ts';
import { lockRollout } from './rollout-row.ts';
import { transitionRollout } from './rollout-transition.ts';

/**
 * Spec `FinalizeRollout`: writes the terminal status, after nodes that never had their turn are left out with the same
 * reason, so that every node of an ended rollout is terminal. A second call changes nothing.
 * @returns false when the row has moved on to where this end isn't legal: the workflow asks again
 */
export async function finalizeRollout(
  db: Database,
  rolloutId: string,
  status: RolloutStatus,
  reason: Reason,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const rollout = await lockRollout(tx, rolloutId);
    if (rollout.status === status) return true;
    let from = rollout.status;
    // A pause that was lifted when nothing was left to do: the resume counts, then the end.
    if (from === 'paused' && !canTransition(ROLLOUT_TRANSITIONS, from, status)) {
      const resumed = reasonToRun(rollout, { controls: await loadControls(tx, rolloutId) });
      await transitionRollout(tx, { rolloutId, from, to: 'running', reason: resumed, actor: actorOf(resumed) });
      from = 'running';
    }
    if (!canTransition(ROLLOUT_TRANSITIONS, from, status)) return false;
    await leaveOutPending(tx, rolloutId, reason);
    await recountRollout(tx, rollout);
    return transitionRollout(tx, { rolloutId, from, to: status, reason, actor: actorOf(reason) });
  });
}

async function leaveOutPending(db: Db, rolloutId: string, reason: Reason): Promise<void> {
  const rows = await db
    .selectFrom('rollout_nodes')
    .select('node_id')
    .where('rollout_id', '=', rolloutId)
    .where('status', '=', 'pending')
    .execute();
  for (const { node_id } of rows) await skipNode(db, rolloutId, node_id, reason, actorOf(reason));
}
