import type { EventKind } from '@hoodcloud/contracts/events/event-kinds';
import { isEndedGroup } from '@hoodcloud/domain/group-snapshot';
import type { Reason } from '@hoodcloud/domain/reasons';
import { ROLLOUT_GROUP_TRANSITIONS, type RolloutGroupStatus } from '@hoodcloud/domain/rollout-group-status';
import { assertTransition } from '@hoodcloud/domain/transition';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';
import { takeChain } from '../rollouts/create-rollout.ts';
import type { GroupRow } from './group-row.ts';

const EVENT_OF: Readonly<Record<Exclude<RolloutGroupStatus, 'pending' | 'running'>, EventKind>> = {
  paused: 'group_paused',
  completed: 'group_completed',
  partial: 'group_partial',
  failed: 'group_failed',
  canceled: 'group_canceled',
  rolled_back: 'group_rolled_back',
};

/**
 * The one writer of `rollout_groups.status` (C11): checks the edge, keeps `active_chains` true (C2) and appends the event,
 * all in the transaction that holds the row's lock.
 * @returns the row as it is then
 * @throws IllegalTransitionError; RolloutActiveError when another rollout or group owns the chain
 */
export async function transitionGroup(
  db: Db,
  group: GroupRow,
  to: RolloutGroupStatus,
  reason: Reason,
  actor: string,
): Promise<GroupRow> {
  assertTransition('rollout group', ROLLOUT_GROUP_TRANSITIONS, group.status, to);
  const began = group.status === 'pending' && to === 'running';
  const row = await writeStatus(db, group, to, reason, began);
  await keepChainOwner(db, group, to);
  await tell(db, row, eventOf(to, began), reason, actor, group.status);
  return row;
}

/**
 * Turns a group round: from now on its components go back (C10). A group that has ended opens again and takes its chain.
 * @throws RolloutActiveError when another rollout or group owns the chain
 */
export async function turnGroupRound(db: Db, group: GroupRow, reason: Reason, actor: string): Promise<GroupRow> {
  if (group.status !== 'running') assertTransition('rollout group', ROLLOUT_GROUP_TRANSITIONS, group.status, 'running');
  await writeStatus(db, group, 'running', reason, false);
  await keepChainOwner(db, group, 'running');
  const row = await db
    .updateTable('rollout_groups')
    .set({ direction: 'rollback', rollback_began_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', group.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await tell(db, row, 'group_rollback_initiated', reason, actor, group.status);
  return row;
}

/** The database's clock: rules compare these times with those of controls, which it stamps. */
function writeStatus(
  db: Db,
  group: GroupRow,
  to: RolloutGroupStatus,
  reason: Reason,
  began: boolean,
): Promise<GroupRow> {
  const now = sql<Date>`clock_timestamp()`;
  return db
    .updateTable('rollout_groups')
    .set({
      status: to,
      status_reason: reason.code,
      status_reason_params: json(reason.params),
      status_changed_at: now,
      updated_at: now,
      ...(began && { started_at: now }),
      ended_at: isEndedGroup(to) ? now : null,
    })
    .where('id', '=', group.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function keepChainOwner(db: Db, group: GroupRow, to: RolloutGroupStatus): Promise<void> {
  if (isEndedGroup(to)) await db.deleteFrom('active_chains').where('owner_id', '=', group.id).execute();
  else if (isEndedGroup(group.status)) {
    await takeChain(db, group.chain_profile_id, { type: 'rollout_group', id: group.id });
  }
}

function eventOf(to: RolloutGroupStatus, began: boolean): EventKind {
  if (to === 'running') return began ? 'group_started' : 'group_resumed';
  if (to === 'pending') throw new Error('no group becomes pending');
  return EVENT_OF[to];
}

async function tell(
  db: Db,
  { id, status, direction }: GroupRow,
  kind: EventKind,
  reason: Reason,
  actor: string,
  from: RolloutGroupStatus,
): Promise<void> {
  const data = { from, to: status, direction };
  await appendEvent(db, { kind, subjectType: 'rollout_group', subjectId: id, reason, actor, data });
}
