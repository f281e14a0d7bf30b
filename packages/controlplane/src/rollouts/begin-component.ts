import { reason } from '@hoodcloud/domain/reasons';
import type { Db } from '../db/database.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';
import { type AcceptedDraft, insertRollout, type NewRollout } from './create-rollout.ts';
import { transitionRollout } from './rollout-transition.ts';

/** The group's workflow has started its component's long before, unless the answer that told it so was lost. */
const START_LAPSES_MS = 15_000;

/**
 * Inserts the rollout of a group's component, its turn having come, and makes it run (C2). The group starts its workflow;
 * should the worker that hears so be lost before it has, the rollout's own wake-up does.
 */
export async function beginComponent(tx: Db, draft: AcceptedDraft, rollout: NewRollout): Promise<void> {
  await insertRollout(tx, draft, rollout);
  await transitionRollout(tx, {
    rolloutId: rollout.id,
    from: 'pending',
    to: 'running',
    reason: reason('started_by_group'),
    actor: 'system:group',
  });
  await wakeRollout(tx, rollout.id, 'wake', START_LAPSES_MS);
}
