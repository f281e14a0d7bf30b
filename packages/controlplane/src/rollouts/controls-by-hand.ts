import { CONTROL_LEGAL_IN } from '@hoodcloud/domain/rollout-control';
import type { Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';
import type { ControlByHand } from '../workflows/activity-types.ts';
import type { RolloutRow } from './rollout-row.ts';

const ACTOR = 'signal:temporal';

/**
 * Stores control signals that somebody sent straight to the workflow, so that they hold like any other control (C7a).
 * The id was made when the signal arrived, so a repeated question stores nothing twice. One that the rollout's status
 * doesn't allow is left out: there is nobody to answer 409 to.
 */
export async function storeControlsByHand(
  db: Db,
  rollout: RolloutRow,
  controls: readonly ControlByHand[],
): Promise<void> {
  for (const { id, kind } of controls) {
    if (!CONTROL_LEGAL_IN[kind].includes(rollout.status)) continue;
    // nobody knows who sent it, so it can't be the second person
    if (kind === 'approve_canary' && (rollout.two_person_approval || rollout.start_approval)) continue;
    const stored = await db
      .insertInto('rollout_controls')
      .values({
        id,
        rollout_id: rollout.id,
        kind,
        node_id: null,
        actor: ACTOR,
        reason: 'sent to the workflow by hand',
        failures_acknowledged: kind === 'resume' ? await countFailures(db, rollout.id) : null,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!stored) continue;
    await appendEvent(db, {
      kind: 'rollout_control_ordered',
      subjectType: 'rollout',
      subjectId: rollout.id,
      rolloutId: rollout.id,
      actor: ACTOR,
      data: { control: kind },
    });
  }
}

async function countFailures(db: Db, rolloutId: string): Promise<number> {
  const row = await db
    .selectFrom('rollout_nodes')
    .select((eb) => eb.fn.countAll<number>().as('failed'))
    .where('rollout_id', '=', rolloutId)
    .where('status', 'in', ['failed', 'rolled_back'])
    .executeTakeFirstOrThrow();
  return row.failed;
}
