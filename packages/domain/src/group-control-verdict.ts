import type { ControlVerdict } from './control-verdict.ts';
import { type GroupContext, groupContext } from './group-context.ts';
import type { GroupSnapshot } from './group-snapshot.ts';
import { GROUP_CONTROL_LEGAL_IN, type RolloutGroupControlKind } from './rollout-group-control.ts';

const LEGAL: ControlVerdict = { legal: true };

function refuse(code: string, message: string): ControlVerdict {
  return { legal: false, code, message };
}

/** The component that a skip without an index means: the one the group stands at; null when none is left. */
export function skippableComponent(snapshot: GroupSnapshot): number | null {
  const { active, controls } = groupContext(snapshot, 0);
  if (active) return controls.skips.has(active.index) ? null : active.index;
  const { components } = snapshot;
  const open = components.find(({ index, rollout }) => rollout?.status !== 'completed' && !controls.skips.has(index));
  if (open === undefined) return null;
  // Before a component that has not begun the group stands at the gate of the one before it.
  const before = components.filter(({ index, rollout }) => index < open.index && rollout !== null).at(-1);
  const atItsGate = open.rollout === null && before !== undefined && !controls.skips.has(before.index);
  return atItsGate ? before.index : open.index;
}

type Details = (context: GroupContext, componentIndex: number | null) => ControlVerdict;
const always: Details = () => LEGAL;

const resume: Details = ({ snapshot: { group }, controls, active }) => {
  const pausing = controls.pause !== null || (active?.rollout.pauseOrderedAt ?? null) !== null;
  if (group.status !== 'paused' && !pausing) {
    return refuse('not_paused', 'The group is running and no pause is pending: there is nothing to resume.');
  }
  if (active === null && controls.pause === null && group.statusReason?.code === 'component_failed') {
    const binary = group.statusReason.params.binary;
    return refuse('component_ended', `${binary} has ended and can't be resumed: skip it, roll back or cancel.`);
  }
  return LEGAL;
};

const rollback: Details = ({ snapshot: { group, components }, active }) => {
  if (group.direction === 'rollback' && (group.status === 'running' || group.status === 'paused')) {
    return refuse('rollback_under_way', 'The group is being rolled back already.');
  }
  const back = components.filter(({ rollout }) => (rollout?.succeededNodes ?? 0) > 0);
  if (back.length === 0 && active === null) return refuse('nothing_to_roll_back', 'No component has upgraded a node.');
  const newer = back.find(({ rollout }) => rollout?.newerRolloutId)?.rollout?.newerRolloutId;
  if (!newer) return LEGAL;
  return refuse('newer_rollout', `Rollout ${newer} has changed nodes of this group since: roll that one back.`);
};

const skip: Details = ({ snapshot, controls }, componentIndex) => {
  if (snapshot.group.direction === 'rollback') {
    return refuse('rollback_under_way', 'The group is being rolled back: no component can be left out of that.');
  }
  const here = skippableComponent(snapshot);
  const index = componentIndex ?? here;
  const component = snapshot.components.find((one) => one.index === index);
  if (index === null) return refuse('nothing_to_skip', 'No component is left to skip.');
  if (!component) return refuse('component_not_in_group', `The group has no component ${index}.`);
  if (controls.skips.has(index)) return refuse('component_skipped', `${component.binaryName} is skipped already.`);
  if (here === null || index < here) {
    return refuse(
      'component_ended',
      `${component.binaryName} has ended: only what is under way or follows is skipped.`,
    );
  }
  return LEGAL;
};

const DETAILS: Readonly<Record<RolloutGroupControlKind, Details>> = {
  start: always,
  pause: always,
  resume,
  cancel: always,
  rollback,
  skip,
};

/**
 * Whether a person may order the control of the group now; when not, a stable code and the sentence the operator reads
 * (409). One table of control and status (`GROUP_CONTROL_LEGAL_IN`) and what the components add to it (C3, C6).
 * @param componentIndex the component that a `skip` names; null: the one the group stands at
 */
export function groupControlVerdict(
  kind: RolloutGroupControlKind,
  snapshot: GroupSnapshot,
  componentIndex: number | null = null,
): ControlVerdict {
  const context = groupContext(snapshot, 0);
  const legalIn = GROUP_CONTROL_LEGAL_IN[kind];
  const { status } = snapshot.group;
  if (!legalIn.includes(status)) {
    return refuse('control_not_legal', `${kind} is legal for ${legalIn.join(', ')} groups; this one is ${status}.`);
  }
  const canceling =
    context.controls.cancel !== null && (status === 'pending' || status === 'running' || status === 'paused');
  if (canceling && kind !== 'cancel' && kind !== 'rollback') {
    return refuse('canceling', 'The group is being canceled; a cancel cannot be taken back.');
  }
  return DETAILS[kind](context, componentIndex);
}
