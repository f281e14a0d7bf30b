import { groupControlVerdict, skippableComponent } from '@hoodcloud/domain/group-control-verdict';
import { reason } from '@hoodcloud/domain/reasons';
import type { RolloutGroupControlKind } from '@hoodcloud/domain/rollout-group-control';
import type { Db } from '../db/database.ts';
import { type GroupSignal, wakeGroup } from '../engine/engine-outbox.ts';
import { appendEvent } from '../events/append-event.ts';
import { databaseNow } from '../rollouts/database-clock.ts';
import type { TargetSources } from '../rollouts/judge-targets.ts';
import { GroupControlRefusedError } from './group-errors.ts';
import { type GroupRow, lockGroup } from './group-row.ts';
import { transitionGroup, turnGroupRound } from './group-transition.ts';
import { loadGroupSnapshot } from './load-group-snapshot.ts';
import { refuseGroupWithoutTargets } from './start-group.ts';

export interface GroupControlOrder {
  readonly groupId: string;
  readonly kind: RolloutGroupControlKind;
  /** For `skip`; left out: the component the group stands at. */
  readonly componentIndex?: number | undefined;
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** What the workflow is told; `wake` where the specification has no signal of its own. */
const SIGNALS: Readonly<Record<RolloutGroupControlKind, GroupSignal>> = {
  start: 'wake',
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
  rollback: 'rollback',
  skip: 'skip',
};

/**
 * Takes a person's control of a group: judged against the rows as they are, then stored with what follows at once and the
 * engine's message, all in the caller's transaction (B4, C6).
 * @throws GroupControlRefusedError when it is not legal now, NoEligibleNodesError for a start that could do nothing,
 *   RolloutActiveError for a rollback of an ended group on a chain that belongs to another one
 */
export async function orderGroupControl(tx: Db, sources: TargetSources, order: GroupControlOrder): Promise<void> {
  const group = await lockGroup(tx, order.groupId);
  const now = await databaseNow(tx);
  const snapshot = await loadGroupSnapshot(tx, group, now);
  const verdict = groupControlVerdict(order.kind, snapshot, order.componentIndex ?? null);
  if (!verdict.legal) throw new GroupControlRefusedError(order.kind, verdict);
  if (order.kind === 'start') await refuseGroupWithoutTargets(tx, sources, group, now);
  const componentIndex = order.kind === 'skip' ? (order.componentIndex ?? skippableComponent(snapshot)) : null;
  await storeGroupControl(tx, { ...order, componentIndex });
  await applyAtOnce(tx, order, group);
  await wakeGroup(tx, group.id, SIGNALS[order.kind]);
}

/** A control to store; the id is given when a signal by hand brought it. */
export interface StoredGroupControl {
  readonly id?: string;
  readonly groupId: string;
  readonly kind: RolloutGroupControlKind;
  readonly componentIndex: number | null;
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** Stores a control with its event. @returns false when the id is stored already */
export async function storeGroupControl(tx: Db, control: StoredGroupControl): Promise<boolean> {
  const stored = await tx
    .insertInto('rollout_group_controls')
    .values({
      ...(control.id !== undefined && { id: control.id }),
      group_id: control.groupId,
      kind: control.kind,
      component_index: control.componentIndex,
      actor: control.actor,
      reason: control.reason ?? null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!stored) return false;
  // What it waited for was answered without knowing of this: nobody reads "paused, a person must decide" any more.
  await tx.updateTable('rollout_groups').set({ last_decision: null }).where('id', '=', control.groupId).execute();
  await appendEvent(tx, {
    kind: 'group_control_ordered',
    subjectType: 'rollout_group',
    subjectId: control.groupId,
    actor: control.actor,
    data: { control: control.kind, component_index: control.componentIndex, reason: control.reason ?? null },
  });
  return true;
}

/** What a control changes in the group's row by itself; the others only make the workflow ask. */
export async function applyAtOnce(
  tx: Db,
  order: Pick<StoredGroupControl, 'kind' | 'actor' | 'reason'>,
  group: GroupRow,
): Promise<GroupRow> {
  const { kind, actor } = order;
  if (kind === 'start') {
    return transitionGroup(tx, group, 'running', reason('started_by_operator', { actor }), actor);
  }
  if (kind === 'rollback') {
    const why = reason('rollback_by_operator', { actor, why: order.reason ?? 'no reason given' });
    return turnGroupRound(tx, group, why, actor);
  }
  return group;
}
