import { reason } from '@hoodcloud/domain/reasons';
import type { Db } from '../db/database.ts';
import { type AcceptedDraft, insertRollout, type NewRollout } from './create-rollout.ts';
import { transitionRollout } from './rollout-transition.ts';

/** Inserts the rollout of a group's component, its turn having come, and makes it run (C2); the group starts its workflow. */
export async function beginComponent(tx: Db, draft: AcceptedDraft, rollout: NewRollout): Promise<void> {
  await insertRollout(tx, draft, rollout);
  await transitionRollout(tx, {
    rolloutId: rollout.id,
    from: 'pending',
    to: 'running',
    reason: reason('started_by_group'),
    actor: 'system:group',
  });
}
