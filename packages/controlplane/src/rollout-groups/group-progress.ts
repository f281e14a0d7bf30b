import { randomUUID } from 'node:crypto';
import { decideGroup } from '@hoodcloud/domain/decide-group';
import { GROUP_ACTOR, type GroupDecision } from '@hoodcloud/domain/group-decision';
import type { GroupSnapshot } from '@hoodcloud/domain/group-snapshot';
import { type Reason, reason } from '@hoodcloud/domain/reasons';
import type { Database, Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { beginComponent } from '../rollouts/begin-component.ts';
import { databaseNow } from '../rollouts/database-clock.ts';
import type { TargetSources } from '../rollouts/judge-targets.ts';
import { nameNodesIn } from '../rollouts/name-nodes.ts';
import { orderForGroup } from '../rollouts/order-control.ts';
import type { GroupAnswer, GroupControlByHand } from '../workflows/activity-types.ts';
import { storeGroupControlsByHand } from './group-controls-by-hand.ts';
import { type GroupRow, lockGroup } from './group-row.ts';
import { transitionGroup, turnGroupRound } from './group-transition.ts';
import { componentRollouts, loadGroupSnapshot } from './load-group-snapshot.ts';
import { storedComponents } from './stored-component.ts';

/**
 * `UpdateGroupProgress`, the one question of the group's workflow (C7a): takes a snapshot, asks `decideGroup` and does in
 * rows what it says, in one transaction. Asked again after a crash it finds its own writes and answers the same.
 */
export async function updateGroupProgress(
  db: Database,
  sources: Pick<TargetSources, 'chains'>,
  groupId: string,
  controlsByHand: readonly GroupControlByHand[],
): Promise<GroupAnswer> {
  return db.transaction().execute(async (tx) => {
    const locked = await lockGroup(tx, groupId);
    const now = await databaseNow(tx);
    const group = await storeGroupControlsByHand(tx, locked, controlsByHand, now);
    const snapshot = await loadGroupSnapshot(tx, group, now);
    const decision = await nameNodesOf(tx, decideGroup(snapshot, now));
    const moved = await applyStatus(tx, group, decision, snapshot);
    await rememberDecision(tx, group.id, decision, now);
    return obey(tx, sources, moved, decision, now);
  });
}

/** Writes the status that the decision names, when the row has another one. */
async function applyStatus(
  db: Db,
  group: GroupRow,
  decision: GroupDecision,
  snapshot: GroupSnapshot,
): Promise<GroupRow> {
  if (decision.kind === 'roll_back') return turnGroupRound(db, group, decision.reason, actorOf(decision.reason));
  if (decision.status === group.status) return group;
  const ends = decision.kind === 'pause' || decision.kind === 'finish';
  const why = ends ? decision.reason : reasonToRun(group, snapshot);
  return transitionGroup(db, group, decision.status, why, actorOf(why));
}

/** Who made a pending or paused group run: the newest control that can, or its component by itself. */
function reasonToRun(group: GroupRow, { controls }: GroupSnapshot): Reason {
  const kinds = group.status === 'pending' ? ['start'] : ['resume', 'skip'];
  const control = controls.findLast(({ kind }) => kinds.includes(kind));
  const code = group.status === 'pending' ? 'started_by_operator' : 'resumed_by_operator';
  return reason(code, { actor: control?.actor ?? GROUP_ACTOR });
}

/** The person that a reason names; the group itself otherwise. */
function actorOf({ code, params }: Reason): string {
  return code.endsWith('_by_operator') && typeof params.actor === 'string' ? params.actor : GROUP_ACTOR;
}

/** Does the rest of the decision in rows, and says what is left to the workflow. */
async function obey(
  db: Db,
  sources: Pick<TargetSources, 'chains'>,
  group: GroupRow,
  decision: GroupDecision,
  now: number,
): Promise<GroupAnswer> {
  switch (decision.kind) {
    case 'start_component': {
      const component = storedComponents(group.component_order).find(
        ({ component_index }) => component_index === decision.componentIndex,
      );
      if (!component) throw new Error(`group ${group.id} has no component ${decision.componentIndex}`);
      const of = { id: group.id, componentIndex: decision.componentIndex };
      const id = randomUUID();
      await beginComponent(db, component.draft, { id, actor: group.created_by, group: of });
      const { strategy } = component.draft.request;
      const rollout = { id, chain_profile_id: group.chain_profile_id, strategy, group_id: group.id };
      return { kind: 'start_component', rollout };
    }
    case 'steer': {
      const { componentIndex, control, actor, why } = decision.order;
      const rollout = (await componentRollouts(db, group.id)).get(componentIndex);
      if (!rollout) throw new Error(`component ${componentIndex} of group ${group.id} has not begun`);
      await orderForGroup(db, sources, { rolloutId: rollout.id, kind: control, actor, reason: why });
      return { kind: 'wait', forMs: 0 }; // asked again, it says what the order is waiting for
    }
    case 'roll_back':
      return { kind: 'wait', forMs: 0 };
    case 'wait':
      return { kind: 'wait', forMs: decision.until === null ? null : Math.max(0, decision.until - now) };
    case 'pause':
      return { kind: 'wait', forMs: null };
    case 'finish':
      return { kind: 'finish', status: decision.status };
  }
}

async function rememberDecision(db: Db, groupId: string, decision: GroupDecision, now: number): Promise<void> {
  const reasons = 'reasons' in decision ? decision.reasons : [decision.reason];
  const until = decision.kind === 'wait' && decision.until !== null ? new Date(decision.until).toISOString() : null;
  await db
    .updateTable('rollout_groups')
    .set({ last_decision: json({ kind: decision.kind, until, reasons }), updated_at: new Date(now) })
    .where('id', '=', groupId)
    .execute();
}

/** Names where the domain knows ids only (C11). */
async function nameNodesOf(db: Db, decision: GroupDecision): Promise<GroupDecision> {
  if (decision.kind === 'roll_back' || decision.kind === 'finish') {
    const [named = decision.reason] = await nameNodesIn(db, [decision.reason]);
    return { ...decision, reason: named };
  }
  const reasons = await nameNodesIn(db, decision.reasons);
  return decision.kind === 'pause'
    ? { ...decision, reason: reasons[0] ?? decision.reason, reasons }
    : { ...decision, reasons };
}
