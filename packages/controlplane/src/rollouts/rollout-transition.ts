import type { EventKind } from '@hoodcloud/contracts/events/event-kinds';
import type { Reason } from '@hoodcloud/domain/reasons';
import {
  isEndedRollout,
  ROLLOUT_TRANSITIONS,
  type RolloutDirection,
  type RolloutStatus,
} from '@hoodcloud/domain/rollout-status';
import { assertTransition } from '@hoodcloud/domain/transition';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { wakeGroup } from '../engine/engine-outbox.ts';
import { appendEvent } from '../events/append-event.ts';

export interface RolloutTransition {
  readonly rolloutId: string;
  readonly from: RolloutStatus;
  readonly to: RolloutStatus;
  readonly reason: Reason;
  readonly actor: string;
  /** Set when a rollback begins: the rollout opens again with direction `rollback` (C10a). */
  readonly direction?: RolloutDirection;
}

/**
 * The one writer of `rollouts.status` (C11): checks the edge, writes where the status is still `from`, keeps
 * `active_chains` true (C2) and appends the event, all in the caller's transaction.
 * @returns false when somebody else moved it first; nothing is written then
 * @throws IllegalTransitionError; a unique violation when another rollout owns the chain
 */
export async function transitionRollout(db: Db, change: RolloutTransition): Promise<boolean> {
  assertTransition('rollout', ROLLOUT_TRANSITIONS, change.from, change.to);
  // The database's clock: rules compare these times with those of controls, which it stamps.
  const now = sql<Date>`clock_timestamp()`;
  const row = await db
    .updateTable('rollouts')
    .set({
      status: change.to,
      status_reason: change.reason.code,
      status_reason_params: json(change.reason.params),
      status_changed_at: now,
      updated_at: now,
      ...(change.direction && { direction: change.direction }),
      ...(change.from === 'pending' && change.to === 'running' && { started_at: now }),
      ended_at: isEndedRollout(change.to) ? now : null,
    })
    .where('id', '=', change.rolloutId)
    .where('status', '=', change.from)
    .returning(['id', 'chain_profile_id', 'group_id', 'direction'])
    .executeTakeFirst();
  if (!row) return false;
  // A component's chain belongs to its group, which hears of every change (C2).
  if (row.group_id === null) await keepChainOwner(db, row.chain_profile_id, change);
  else await wakeGroup(db, row.group_id);
  await appendEvent(db, {
    kind: eventKind(change, row.direction),
    subjectType: 'rollout',
    subjectId: row.id,
    rolloutId: row.id,
    reason: change.reason,
    actor: change.actor,
    data: { from: change.from, to: change.to, direction: row.direction },
  });
  return true;
}

/** A rollout that opens takes its chain, one that ends gives it back. */
async function keepChainOwner(db: Db, chainProfileId: string, change: RolloutTransition): Promise<void> {
  if (isEndedRollout(change.to)) {
    await db.deleteFrom('active_chains').where('owner_id', '=', change.rolloutId).execute();
  } else if (isEndedRollout(change.from)) {
    await db
      .insertInto('active_chains')
      .values({ chain_profile_id: chainProfileId, owner_type: 'rollout', owner_id: change.rolloutId })
      .execute();
  }
}

function eventKind(change: RolloutTransition, direction: RolloutDirection): EventKind {
  switch (change.to) {
    case 'running':
      if (change.direction === 'rollback') return 'rollback_initiated';
      return change.from === 'pending' ? 'rollout_started' : 'rollout_resumed';
    case 'paused':
      return 'rollout_paused';
    case 'completed':
      return 'rollout_completed';
    case 'failed':
      return 'rollout_failed';
    case 'canceled':
      return 'rollout_canceled';
    case 'rolled_back':
      return 'rollback_completed';
    case 'pending':
      throw new Error(`no event for a rollout that becomes pending (${direction})`);
  }
}
