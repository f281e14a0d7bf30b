import type { ComponentOrder, GroupDecision } from './group-decision.ts';
import type { ComponentRolloutFacts, GroupComponentFacts, GroupSnapshot } from './group-snapshot.ts';
import { type Reason, type ReasonCode, reason } from './reasons.ts';
import {
  type EffectiveGroupControls,
  effectiveGroupControls,
  type RolloutGroupControl,
} from './rollout-group-control.ts';
import { isEndedRollout } from './rollout-status.ts';

/** A component whose turn has come. */
export interface BegunComponent extends GroupComponentFacts {
  readonly rollout: ComponentRolloutFacts;
}

/** A snapshot with what every rule asks of it, computed once a question. */
export interface GroupContext {
  readonly snapshot: GroupSnapshot;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly controls: EffectiveGroupControls;
  /** The component whose rollout has not ended; there is at most one (C2). */
  readonly active: BegunComponent | null;
}

/** Builds the context of one question. */
export function groupContext(snapshot: GroupSnapshot, now: number): GroupContext {
  const active = snapshot.components.find(
    (component): component is BegunComponent => component.rollout !== null && !isEndedRollout(component.rollout.status),
  );
  return { snapshot, now, controls: effectiveGroupControls(snapshot.controls), active: active ?? null };
}

/** Reason of a person's control. */
export function groupControlReason(code: ReasonCode, control: RolloutGroupControl | null): Reason {
  return reason(code, { actor: control?.actor ?? 'an operator', why: control?.reason ?? 'no reason given' });
}

/** Status of a group that waits: paused stays paused, everything else runs. */
function standing({ snapshot }: GroupContext): 'running' | 'paused' {
  return snapshot.group.status === 'paused' ? 'paused' : 'running';
}

/** Waits for the next wake-up; the status stays unless it is given. */
export function waitFor(
  context: GroupContext,
  why: Reason,
  status: 'running' | 'paused' = standing(context),
): GroupDecision {
  return { kind: 'wait', status, until: null, reasons: [why] };
}

/** Orders something of a component's rollout. */
export function steer(
  context: GroupContext,
  order: ComponentOrder,
  why: Reason,
  status: 'running' | 'paused' = standing(context),
): GroupDecision {
  return { kind: 'steer', status, order, reasons: [why] };
}

/** The order that passes a person's control on to a component. */
export function passOn(
  component: GroupComponentFacts,
  control: ComponentOrder['control'],
  by: RolloutGroupControl,
): ComponentOrder {
  return { componentIndex: component.index, control, actor: by.actor, why: by.reason ?? `ordered for the group` };
}

/** Pauses the group, or keeps it paused. */
export function pauseGroup(why: Reason): GroupDecision {
  return { kind: 'pause', status: 'paused', reason: why, reasons: [why] };
}
