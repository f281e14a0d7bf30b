import { decideGroupRollback } from './decide-group-rollback.ts';
import { decideGroupUpgrade } from './decide-group-upgrade.ts';
import { type GroupContext, groupContext, groupControlReason, passOn, steer, waitFor } from './group-context.ts';
import type { GroupDecision } from './group-decision.ts';
import { type GroupSnapshot, isEndedGroup } from './group-snapshot.ts';
import { reason } from './reasons.ts';
import { ROLLOUT_GROUP_TRANSITIONS } from './rollout-group-status.ts';
import { canTransition } from './transition.ts';

/** Ends a cancelled group once its component has: in-flight nodes run to their end, no later component begins. */
function cancel(context: GroupContext): GroupDecision {
  const { snapshot, controls, active } = context;
  const why = groupControlReason('canceled_by_operator', controls.cancel);
  // A rollback that was ordered of an ended component and has not begun is taken back too.
  const open = active ?? snapshot.components.find(({ rollout }) => rollout?.rollbackOrdered) ?? null;
  if (open === null || controls.cancel === null) return { kind: 'finish', status: 'canceled', reason: why };
  const canceling = reason('component_canceling', { binary: open.binaryName });
  if (open.rollout?.cancelOrdered) return waitFor(context, canceling);
  return steer(context, passOn(open, 'cancel', controls.cancel), canceling);
}

function decidePending({ controls: { start }, now }: GroupContext): GroupDecision {
  if (start === null) return { kind: 'wait', status: 'pending', until: null, reasons: [reason('not_started')] };
  const reasons = [reason('started_by_operator', { actor: start.actor })];
  return { kind: 'wait', status: 'running', until: now, reasons };
}

/** A paused group with nothing left to do runs again before it ends: no end but a bad one follows `paused`. */
function throughRunning(context: GroupContext, decision: GroupDecision): GroupDecision {
  const { status } = context.snapshot.group;
  if (decision.kind !== 'finish' || canTransition(ROLLOUT_GROUP_TRANSITIONS, status, decision.status)) return decision;
  return { kind: 'wait', status: 'running', until: context.now, reasons: [decision.reason] };
}

/**
 * What a group of rollouts does next, from rows alone (C7a). Pure: the same snapshot and time give the same answer,
 * however often it is asked. The caller obeys in the transaction of the question: it inserts a component's rollout, stores
 * a control of one, turns the group round or ends it. `wait` with `until` of now means: write the status and ask again.
 * @param now epoch milliseconds
 */
export function decideGroup(snapshot: GroupSnapshot, now: number): GroupDecision {
  const context = groupContext(snapshot, now);
  const { status, statusReason, direction } = snapshot.group;
  if (isEndedGroup(status)) {
    const why = statusReason ?? reason('internal_error', { error: 'no reason was recorded' });
    return { kind: 'finish', status, reason: why };
  }
  if (context.controls.cancel) return cancel(context);
  if (status === 'pending') return decidePending(context);
  const decide = direction === 'rollback' ? decideGroupRollback : decideGroupUpgrade;
  return throughRunning(context, decide(context));
}
