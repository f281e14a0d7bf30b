import { decideRollback } from './decide-rollback.ts';
import { decideUpgrade, selectRetries } from './decide-upgrade.ts';
import { type DecisionContext, decisionContext } from './decision-context.ts';
import { drain, underwayCount, waitForUnderway } from './drain.ts';
import { type Reason, type ReasonCode, reason } from './reasons.ts';
import type { RolloutDecision } from './rollout-decision.ts';
import { isFailure } from './rollout-rows.ts';
import type { RolloutSnapshot } from './rollout-snapshot.ts';
import { isEndedRollout, ROLLOUT_TRANSITIONS, type RolloutStatus } from './rollout-status.ts';
import { controlReason, isReasonCode } from './standing-pause.ts';
import { canTransition } from './transition.ts';

/** Reason of an end that already stands, for one that recorded none. */
const DEFAULT_END: Readonly<Partial<Record<RolloutStatus, ReasonCode>>> = {
  completed: 'all_nodes_ended',
  failed: 'internal_error',
  canceled: 'canceled_by_operator',
  rolled_back: 'rollback_completed',
};

function endReason({ snapshot, controls }: DecisionContext): Reason {
  const { status, statusReason } = snapshot.rollout;
  const code = isReasonCode(statusReason) ? statusReason : (DEFAULT_END[status] ?? 'internal_error');
  if (code === 'canceled_by_operator') return controlReason(code, controls.cancel);
  const count = (accept: (row: (typeof snapshot.nodes)[number]) => boolean) => snapshot.nodes.filter(accept).length;
  if (code === 'all_nodes_ended') {
    const succeeded = count((row) => row.status === 'succeeded');
    return reason(code, { succeeded, failed: count(isFailure), skipped: count((row) => row.status === 'skipped') });
  }
  if (code === 'rollback_completed') return reason(code, { count: count((row) => row.status === 'rolled_back') });
  if (code === 'rollback_incomplete') return reason(code, { count: count((row) => row.status === 'failed') });
  return reason(code);
}

/** A rollout that is over stays so; only retries that a person ordered still run, and never after a cancel (C8). */
function decideEnded(context: DecisionContext): RolloutDecision {
  const { status } = context.snapshot.rollout;
  if (status !== 'canceled') {
    const { chosen, waiting, until } = selectRetries(context);
    if (chosen.length > 0) return { kind: 'run', status, nodes: chosen, reasons: waiting };
    if (underwayCount(context) > 0 || waiting.length > 0) return waitForUnderway(context, status, waiting, until);
  }
  return { kind: 'finish', status, reason: endReason(context) };
}

/** Whether a rollback was ordered that has not begun; one that ended is begun again by a newer order only. */
function rollbackIsDue({ snapshot: { rollout }, controls }: DecisionContext): boolean {
  if (controls.rollback === null) return false;
  if (rollout.direction === 'upgrade') return true;
  return isEndedRollout(rollout.status) && controls.rollback.createdAt > rollout.statusChangedAt;
}

function beginRollback(context: DecisionContext): RolloutDecision {
  const draining = reason('rollback_draining', { count: underwayCount(context) });
  const why = controlReason('rollback_by_operator', context.controls.rollback);
  return drain(context, context.snapshot.rollout.status, [draining], { kind: 'roll_back', reason: why });
}

/** Ends a cancelled rollout once nothing is under way: no forced cancellation of a node in the middle. */
function cancel(context: DecisionContext): RolloutDecision {
  const canceling = reason('canceling', { count: underwayCount(context) });
  const why = controlReason('canceled_by_operator', context.controls.cancel);
  return drain(context, context.snapshot.rollout.status, [canceling], {
    kind: 'finish',
    status: 'canceled',
    reason: why,
  });
}

/** A start makes the rollout running before anything else, since nothing but `running` and `canceled` follows `pending`. */
function decidePending({ controls: { start }, now }: DecisionContext): RolloutDecision {
  if (start === null) return { kind: 'wait', status: 'pending', until: null, reasons: [reason('not_started')] };
  const reasons = [reason('started_by_operator', { actor: start.actor })];
  return { kind: 'wait', status: 'running', until: now, reasons };
}

/** A resumed rollout with nothing left to do runs again before it ends: no end but a bad one follows `paused`. */
function throughRunning(context: DecisionContext, decision: RolloutDecision): RolloutDecision {
  const { status } = context.snapshot.rollout;
  if (decision.kind !== 'finish' || status !== 'paused') return decision;
  if (canTransition(ROLLOUT_TRANSITIONS, status, decision.status)) return decision;
  const by = context.controls.resume ?? context.controls.force;
  const reasons = [reason('resumed_by_operator', { actor: by?.actor ?? 'an operator' })];
  return { kind: 'wait', status: 'running', until: context.now, reasons };
}

/**
 * What the rollout does next, from its rows alone (C7a). Pure: the same snapshot and time give the same answer, however
 * often it is asked, so workflow, plan, dashboard and simulation all ask it.
 *
 * The caller obeys: `run` writes `offeredAt` of the nodes and starts their children; `roll_back` sets the direction to
 * `rollback`, the status to `running`, and requests the next attempt of every succeeded node, in that direction and with
 * its offer cleared; a retry that has not begun is not begun any more. `wait` with `until` of now means: write the status and ask again.
 * @param now epoch milliseconds
 */
export function decideNext(snapshot: RolloutSnapshot, now: number): RolloutDecision {
  const context = decisionContext(snapshot, now);
  const { rollout } = snapshot;
  if (rollbackIsDue(context)) return beginRollback(context);
  if (isEndedRollout(rollout.status)) return decideEnded(context);
  if (context.controls.cancel) return cancel(context);
  if (rollout.status === 'pending') return decidePending(context);
  if (rollout.direction === 'rollback') return throughRunning(context, decideRollback(context));
  if (!rollout.targetsResolved) {
    return { kind: 'wait', status: 'running', until: null, reasons: [reason('targets_unresolved')] };
  }
  return throughRunning(context, decideUpgrade(context));
}
