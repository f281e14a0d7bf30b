import { type BegunComponent, type GroupContext, groupControlReason, steer, waitFor } from './group-context.ts';
import { type ComponentOrder, GROUP_ACTOR, type GroupDecision } from './group-decision.ts';
import { obeyPause, obeyResume } from './group-pause.ts';
import { type Reason, reason, sentenceOf } from './reasons.ts';
import { isEndedRollout } from './rollout-status.ts';

/** Why the group goes back: a person ordered it, or its policy did. */
function whyBack({ snapshot, controls }: GroupContext): Reason {
  if (controls.rollback) return groupControlReason('rollback_by_operator', controls.rollback);
  return snapshot.group.statusReason ?? reason('internal_error', { error: 'no reason was recorded' });
}

function backwards(context: GroupContext, component: BegunComponent): ComponentOrder {
  const actor = context.controls.rollback?.actor ?? GROUP_ACTOR;
  return { componentIndex: component.index, control: 'rollback', actor, why: sentenceOf(whyBack(context)) };
}

/** Whether its rollback in this turn of the group ended without bringing every node back. */
function endedIncomplete({ snapshot }: GroupContext, { rollout }: BegunComponent): boolean {
  const since = snapshot.group.rollbackBeganAt ?? 0;
  const inThisTurn = rollout.direction === 'rollback' && rollout.statusChangedAt >= since;
  return inThisTurn && (rollout.status === 'failed' || rollout.status === 'canceled');
}

/** What the component still needs to be back on its previous version; null when nothing. */
function bringBack(context: GroupContext, component: BegunComponent): GroupDecision | null {
  const { rollout, binaryName: binary } = component;
  const goingBack = reason('component_rolling_back', { binary });
  if (!isEndedRollout(rollout.status) && rollout.direction === 'rollback') {
    return obeyResume(context, component) ?? waitFor(context, goingBack, 'running');
  }
  if (rollout.rollbackOrdered) return waitFor(context, goingBack, 'running');
  // One that runs has nodes in flight which may still succeed: it drains them and takes them back itself.
  if (!isEndedRollout(rollout.status)) return steer(context, backwards(context, component), goingBack, 'running');
  if (endedIncomplete(context, component)) {
    const why = reason('group_rollback_incomplete', { binary, why: rollout.why });
    return { kind: 'finish', status: 'failed', reason: why };
  }
  if (rollout.status === 'rolled_back' || rollout.succeededNodes === 0) return null;
  return steer(context, backwards(context, component), goingBack, 'running');
}

/**
 * Next step of a group that goes back (C10): the component that failed first, then those that were upgraded, in reverse
 * order, each when the one after it is back. One that can't be brought back wholly ends the group: what the others
 * stand on must not go from under them.
 */
export function decideGroupRollback(context: GroupContext): GroupDecision {
  const paused = obeyPause(context);
  if (paused) return paused;
  const begun = context.snapshot.components.filter(
    (component): component is BegunComponent => component.rollout !== null,
  );
  for (const component of begun.toReversed()) {
    const decision = bringBack(context, component);
    if (decision) return decision;
  }
  const why = reason('group_rolled_back', { why: sentenceOf(whyBack(context)) });
  return { kind: 'finish', status: 'rolled_back', reason: why };
}
