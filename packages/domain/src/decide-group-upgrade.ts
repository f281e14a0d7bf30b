import { type BegunComponent, type GroupContext, passOn, pauseGroup, steer, waitFor } from './group-context.ts';
import type { GroupDecision } from './group-decision.ts';
import { judgeGate } from './group-gate.ts';
import { obeyPause, obeyResume } from './group-pause.ts';
import type { GroupComponentFacts } from './group-snapshot.ts';
import { type Reason, reason } from './reasons.ts';
import type { FailurePolicy } from './rollout-group-status.ts';

const isUpgraded = ({ rollout }: GroupComponentFacts): boolean => rollout?.status === 'completed';

/** A component under way: skipped, paused, resumed, or left to go on. */
function decideActive(context: GroupContext, active: BegunComponent): GroupDecision {
  const { controls, snapshot } = context;
  const skip = controls.skips.get(active.index);
  if (skip) {
    // C2: what is skipped is canceled first; its nodes in flight end.
    const why = reason('component_skipping', { binary: active.binaryName });
    return active.rollout.cancelOrdered ? waitFor(context, why) : steer(context, passOn(active, 'cancel', skip), why);
  }
  const held = obeyPause(context) ?? obeyResume(context, active);
  if (held) return held;
  const of = snapshot.components.length;
  const why = reason('component_running', { binary: active.binaryName, component: active.index + 1, of });
  return waitFor(context, why, 'running');
}

/** Whether what paused the group, with no component under way, was answered by a person since, or is gone by itself. */
function isAnswered({ snapshot, controls }: GroupContext): boolean {
  const { statusChangedAt, statusReason } = snapshot.group;
  if (statusReason?.code === 'component_paused') return true; // that component has ended meanwhile
  const answers = [controls.resume, ...controls.skips.values()];
  return answers.some((answer) => answer !== null && answer.createdAt >= statusChangedAt);
}

type Policy = (context: GroupContext, why: Reason) => GroupDecision;

/** What becomes of the group when a component failed, or its nodes did not get healthy (spec "Failure policies"). */
const POLICIES: Readonly<Record<FailurePolicy, Policy>> = {
  // Nothing after the failed component begins; what was upgraded stays (C2).
  partial_ok: ({ snapshot: { components } }, why) => {
    const upgraded = components.filter(isUpgraded).length;
    return { kind: 'finish', status: upgraded > 0 ? 'partial' : 'failed', reason: why };
  },
  rollback_all: (_, why) => ({ kind: 'roll_back', reason: why }),
  manual: (_, why) => pauseGroup(why),
};

function applyPolicy(context: GroupContext, why: Reason): GroupDecision {
  return POLICIES[context.snapshot.group.failurePolicy](context, why);
}

/** The component whose nodes the gate before `next` looks at; null when there is none, or a person skipped it. */
function gateKeeper({ snapshot, controls }: GroupContext, next: GroupComponentFacts): BegunComponent | null {
  const before = snapshot.components
    .filter((component): component is BegunComponent => component.rollout !== null && component.index < next.index)
    .at(-1);
  return before === undefined || controls.skips.has(before.index) ? null : before;
}

/** Begins the component when the one before it is proved well. */
function begin(context: GroupContext, next: GroupComponentFacts): GroupDecision {
  const keeper = gateKeeper(context, next);
  const gate = keeper === null ? ({ kind: 'pass' } as const) : judgeGate(context, keeper);
  switch (gate.kind) {
    case 'wait':
      return { kind: 'wait', status: 'running', until: gate.until, reasons: [gate.reason] };
    case 'fail':
      return applyPolicy(context, gate.reason);
    case 'pass': {
      const of = context.snapshot.components.length;
      const why = reason('component_running', { binary: next.binaryName, component: next.index + 1, of });
      return { kind: 'start_component', status: 'running', componentIndex: next.index, reasons: [why] };
    }
  }
}

function finish({ snapshot: { components } }: GroupContext): GroupDecision {
  const completed = components.filter(isUpgraded).length;
  const of = components.length;
  if (completed === 0) return { kind: 'finish', status: 'canceled', reason: reason('all_components_skipped') };
  const counts = { completed, of, skipped: of - completed };
  return { kind: 'finish', status: 'completed', reason: reason('all_components_ended', counts) };
}

/** Next step of a started, neither cancelled nor reversed group: its components one after the other, in their order. */
export function decideGroupUpgrade(context: GroupContext): GroupDecision {
  const { active, snapshot, controls } = context;
  if (active) return decideActive(context, active);
  const paused = obeyPause(context);
  if (paused) return paused;
  const { status, statusReason } = snapshot.group;
  if (status === 'paused' && statusReason !== null && !isAnswered(context)) return pauseGroup(statusReason);
  for (const component of snapshot.components) {
    const { rollout, binaryName } = component;
    if (controls.skips.has(component.index)) continue;
    if (rollout === null) return begin(context, component);
    if (rollout.status === 'completed') continue;
    return applyPolicy(context, reason('component_failed', { binary: binaryName, why: rollout.why }));
  }
  return finish(context);
}
