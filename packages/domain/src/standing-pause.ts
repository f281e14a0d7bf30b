import type { DecisionContext } from './decision-context.ts';
import { classReason, maxFailuresReason, ratioReason } from './failure-threshold.ts';
import { REASONS, type Reason, type ReasonCode, reason } from './reasons.ts';
import type { RolloutControl } from './rollout-control.ts';
import { canaryPauseReason } from './rollout-strategy/canary.ts';
import { chainHaltedReason } from './start-gates/chain-halted.ts';

/** Pauses that `force` lifts, since it overrides what caused them (C6, D4a); it lifts no other. */
const LIFTED_BY_FORCE: readonly string[] = [
  'failure_threshold_exceeded',
  'max_failures_exceeded',
  'failure_class_limit',
  'chain_halted',
];

/** Whether the text is the code of a reason. */
export function isReasonCode(code: string | null): code is ReasonCode {
  return code !== null && Object.hasOwn(REASONS, code);
}

/** Reason of a control, as the sentences of `reasons.ts` want it. */
export function controlReason(code: ReasonCode, control: RolloutControl | null): Reason {
  return reason(code, { actor: control?.actor ?? 'an operator', why: control?.reason ?? 'no reason given' });
}

/** Whether the rollout's pause was lifted by something newer than it: a resume, or a force where force counts. */
function isLifted({ snapshot, controls }: DecisionContext): boolean {
  const { statusChangedAt, statusReason } = snapshot.rollout;
  // A resume of the same millisecond counts: what caused the pause is judged again anyway.
  const resumed = controls.resume !== null && controls.resume.createdAt >= statusChangedAt;
  const forced = controls.force !== null && controls.force.createdAt >= statusChangedAt;
  return resumed || (forced && LIFTED_BY_FORCE.includes(statusReason ?? ''));
}

function reasonAgain(context: DecisionContext): Reason {
  const code = context.snapshot.rollout.statusReason;
  if (code === 'failure_threshold_exceeded') return ratioReason(context);
  if (code === 'max_failures_exceeded') return maxFailuresReason(context);
  if (code === 'failure_class_limit') return classReason(context) ?? reason(code);
  if (code === 'chain_halted') return chainHaltedReason(context);
  const ofCanaries = code === null ? null : canaryPauseReason(code, context);
  if (ofCanaries) return ofCanaries;
  if (isReasonCode(code) && code !== 'paused_by_operator') return reason(code);
  const lastPause = context.snapshot.controls.findLast((control) => control.kind === 'pause');
  return controlReason('paused_by_operator', lastPause ?? null);
}

/**
 * Why the rollout is, or must become, paused whatever its nodes say: a person's pause, or an earlier pause of any cause
 * that nobody has lifted. Its reason stays the same however often it is asked (field-case 111).
 */
export function standingPause(context: DecisionContext): Reason | null {
  if (context.controls.pause) return controlReason('paused_by_operator', context.controls.pause);
  if (context.snapshot.rollout.status !== 'paused' || isLifted(context)) return null;
  return reasonAgain(context);
}
