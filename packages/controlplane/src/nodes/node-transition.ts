import { NODE_STATE_TRANSITIONS, type NodeState } from '@hoodcloud/domain/node-state';
import type { Reason } from '@hoodcloud/domain/reasons';
import { assertTransition, canTransition } from '@hoodcloud/domain/transition';
import type { Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';

export interface NodeTransition {
  readonly nodeId: string;
  readonly from: NodeState;
  readonly to: NodeState;
  readonly reason: Reason;
  /** The rollout the change belongs to; it must own the maintenance that it ends (D5). */
  readonly rolloutId?: string;
  readonly actor: string;
}

/**
 * The one writer of `nodes.state` (C11): checks the edge, writes where the state is still `from`, appends the event.
 * Entering maintenance keeps the prior state and the owner; leaving it is for its owner alone (D5).
 * @returns false when the node is elsewhere or in somebody else's maintenance; nothing is written then
 * @throws IllegalTransitionError
 */
export async function transitionNode(db: Db, change: NodeTransition): Promise<boolean> {
  assertTransition('node', NODE_STATE_TRANSITIONS, change.from, change.to);
  if (change.to === 'maintenance' && !change.rolloutId) throw new Error('maintenance needs an owner');
  let update = db
    .updateTable('nodes')
    .set({
      state: change.to,
      prior_state: change.to === 'maintenance' ? change.from : null,
      maintenance_owner: change.to === 'maintenance' ? (change.rolloutId ?? null) : null,
      updated_at: new Date(),
    })
    .where('id', '=', change.nodeId)
    .where('state', '=', change.from);
  if (change.from === 'maintenance') update = update.where('maintenance_owner', '=', change.rolloutId ?? null);
  if (!(await update.returning('id').executeTakeFirst())) return false;
  await appendEvent(db, {
    kind: 'node_state_changed',
    subjectType: 'node',
    subjectId: change.nodeId,
    rolloutId: change.rolloutId ?? null,
    nodeId: change.nodeId,
    reason: change.reason,
    actor: change.actor,
    data: { from: change.from, to: change.to },
  });
  return true;
}

export interface MaintenanceChange {
  readonly nodeId: string;
  readonly rolloutId: string;
  readonly reason: Reason;
  readonly actor: string;
}

/**
 * Puts a node into this rollout's maintenance, from whatever state may go there. Said again it changes nothing (C13).
 * @returns whether the node is now in this rollout's maintenance
 */
export async function enterMaintenance(db: Db, change: MaintenanceChange): Promise<boolean> {
  const node = await stateOf(db, change.nodeId);
  if (node?.state === 'maintenance') return node.maintenance_owner === change.rolloutId;
  if (!node || !canTransition(NODE_STATE_TRANSITIONS, node.state, 'maintenance')) return false;
  return transitionNode(db, { ...change, from: node.state, to: 'maintenance' });
}

/**
 * Ends this rollout's maintenance of a node. Said again, or when another owns the node by now, it changes nothing.
 * @returns whether this call ended it
 */
export async function leaveMaintenance(
  db: Db,
  change: MaintenanceChange & { readonly to: NodeState },
): Promise<boolean> {
  const node = await stateOf(db, change.nodeId);
  if (node?.state !== 'maintenance' || node.maintenance_owner !== change.rolloutId) return false;
  return transitionNode(db, { ...change, from: 'maintenance' });
}

function stateOf(db: Db, nodeId: string) {
  return db
    .selectFrom('nodes')
    .select(['state', 'maintenance_owner', 'prior_state'])
    .where('id', '=', nodeId)
    .executeTakeFirst();
}
