import {
  type BegunComponent,
  type GroupContext,
  groupControlReason,
  passOn,
  pauseGroup,
  steer,
  waitFor,
} from './group-context.ts';
import type { GroupDecision } from './group-decision.ts';
import { reason } from './reasons.ts';

/** What a person's pause makes of the group, its active component first; null when no pause is in force. */
export function obeyPause(context: GroupContext): GroupDecision | null {
  const { active, controls } = context;
  if (controls.pause === null) return null;
  if (active === null || active.rollout.status === 'paused') {
    return pauseGroup(groupControlReason('paused_by_operator', controls.pause));
  }
  const pausing = reason('component_pausing', { binary: active.binaryName });
  if (active.rollout.pauseOrderedAt !== null) return waitFor(context, pausing);
  return steer(context, passOn(active, 'pause', controls.pause), pausing);
}

/**
 * A component that is paused, or about to be: a resume of the group that is newer lifts it, whoever ordered the pause;
 * without one the group is paused with it. Null when the component goes on.
 */
export function obeyResume(context: GroupContext, active: BegunComponent): GroupDecision | null {
  const { rollout, binaryName } = active;
  const { resume } = context.controls;
  const since = rollout.status === 'paused' ? rollout.statusChangedAt : rollout.pauseOrderedAt;
  if (since === null) return null;
  const resuming = reason('component_resuming', { binary: binaryName });
  if (rollout.resumeOrdered) return waitFor(context, resuming);
  // A resume of the same millisecond counts: what caused the pause is judged again anyway.
  if (resume !== null && resume.createdAt >= since) return steer(context, passOn(active, 'resume', resume), resuming);
  if (rollout.status !== 'paused') return null;
  return pauseGroup(reason('component_paused', { binary: binaryName, why: rollout.why }));
}
