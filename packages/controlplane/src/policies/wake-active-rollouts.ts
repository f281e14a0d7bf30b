import { ACTIVE_ROLLOUT_STATUSES } from '@hoodcloud/domain/rollout-status';
import type { Db } from '../db/database.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';

/** Has every rollout under way ask again what it waits for. */
export async function wakeActiveRollouts(db: Db): Promise<void> {
  const rollouts = await db
    .selectFrom('rollouts')
    .select('id')
    .where('status', 'in', ACTIVE_ROLLOUT_STATUSES)
    .execute();
  for (const { id } of rollouts) await wakeRollout(db, id);
}
