import type { CommandStatus, OperationOutcome } from '@hoodcloud/domain/agent-operation';
import type { NodeState } from '@hoodcloud/domain/node-state';
import { type Reason, reason } from '@hoodcloud/domain/reasons';
import type { RolloutDirection } from '@hoodcloud/domain/rollout-status';
import { phaseOfStep, type UpgradePhase } from '@hoodcloud/domain/upgrade-phase';
import { hookPointOf } from '@hoodcloud/domain/vendor-hook';

/** How one command of an attempt ended. */
export interface CommandEvidence {
  readonly status: CommandStatus;
  readonly outcome: OperationOutcome | null;
  /** The agent's sentence; empty when nothing went wrong. */
  readonly error: string;
  /** Actions that the agent began, in their order. */
  readonly begun: readonly string[];
}

/** All that the rows say of an attempt that did not succeed. */
export interface AttemptEvidence {
  readonly direction: RolloutDirection;
  readonly upgrade: CommandEvidence | null;
  readonly compensate: CommandEvidence | null;
  /** Of a confirmation that ran steps of the vendor; null or left out when none was sent. */
  readonly confirmation?: CommandEvidence | null;
  /** Sentences of a proof of health that failed; null when none did. */
  readonly healthFailure: string | null;
  /** Why the control plane itself could not go on, before anything was sent. */
  readonly controlPlaneError: string | null;
}

/** What becomes of an attempt that did not succeed. */
export interface AttemptEnd {
  readonly status: 'failed' | 'rolled_back';
  /** Undefined leaves the phase where the attempt stood. */
  readonly phase?: UpgradePhase;
  readonly reason: Reason;
  /** State of the node after its maintenance; `prior` is what it was before. */
  readonly nodeState: NodeState | 'prior';
  readonly incident: 'upgrade_failed' | 'upgrade_rollback_failed' | null;
  /** The host runs the previous version again. */
  readonly undone: boolean;
}

/**
 * The compensation table of the specification with B5a, C9 and C10b, over what the rows say.
 * A rollback that fails in any way raises `upgrade_rollback_failed`, and its row is never `rolled_back`: the node still
 * runs the version that people wanted to leave.
 * @throws Error when the rows show no failure, which would be a bug of the caller
 */
export function judgeAttemptEnd(evidence: AttemptEvidence): AttemptEnd {
  const end = endOf(evidence);
  if (evidence.direction === 'upgrade') return end;
  return { ...end, status: 'failed', incident: 'upgrade_rollback_failed' };
}

const UNTOUCHED = { status: 'failed', nodeState: 'prior', incident: null, undone: false } as const;

function untouched(code: 'internal_error' | 'upgrade_refused' | 'upgrade_untouched', error: string): AttemptEnd {
  return { ...UNTOUCHED, reason: reason(code, { error }) };
}

/**
 * Everything slow or doubtful comes before the stop (A10): an attempt that ended there was no interruption. A step of the
 * vendor that only followed the failure says nothing of it.
 */
function touchesNode(action: string): boolean {
  return phaseOfStep(action) !== 'PREPARING' && hookPointOf(action) !== 'on_error';
}

function endOf(evidence: AttemptEvidence): AttemptEnd {
  const { upgrade, controlPlaneError, healthFailure } = evidence;
  if (controlPlaneError !== null) return untouched('internal_error', controlPlaneError);
  if (!upgrade) throw new Error('an attempt without a command has nothing that failed');
  if (upgrade.status === 'expired') return unreachable();
  if (upgrade.status === 'superseded') return { ...UNTOUCHED, reason: reason('superseded') };
  switch (upgrade.outcome) {
    case 'rolled_back':
      if (upgrade.begun.length > 0 && !upgrade.begun.some(touchesNode)) {
        return { ...untouched('upgrade_untouched', upgrade.error), status: 'rolled_back', phase: 'ROLLED_BACK' };
      }
      return {
        status: 'rolled_back',
        phase: 'ROLLED_BACK',
        reason: reason('upgrade_rolled_back', { error: upgrade.error }),
        nodeState: 'prior',
        incident: null,
        undone: true,
      };
    case 'refused':
      return untouched('upgrade_refused', upgrade.error);
    case 'failed_rollback':
      return failedRollback(upgrade.error);
    default:
      if (healthFailure === null && evidence.confirmation) return afterFailedConfirmation(evidence.confirmation);
      if (healthFailure === null) throw new Error('an attempt that the agent completed has no failed validation');
      return afterFailedValidation(evidence, healthFailure);
  }
}

/** C10b: the row is `failed`, its phase tells what the undo did. A rollback's undo is not tried (spec, Tier 3). */
function afterFailedValidation({ direction, compensate }: AttemptEvidence, healthFailure: string): AttemptEnd {
  const why = reason('health_failed', { error: healthFailure });
  if (direction === 'rollback') {
    return {
      status: 'failed',
      phase: 'FAILED_ROLLBACK',
      reason: why,
      nodeState: 'degraded',
      incident: 'upgrade_rollback_failed',
      undone: false,
    };
  }
  if (!compensate) throw new Error('a failed validation is compensated before the attempt ends');
  if (compensate.outcome === 'completed' || compensate.outcome === 'rolled_back') {
    return { status: 'failed', phase: 'ROLLED_BACK', reason: why, nodeState: 'prior', incident: null, undone: true };
  }
  if (compensate.outcome === null) {
    // Whether the undo ran is unknown, and the version that failed may be up: a person must look.
    return { ...failedRollback(healthFailure), reason: reason('agent_unreachable') };
  }
  return failedRollback(`${healthFailure} ${compensate.error}`.trim());
}

/** A vendor's step after the proof of health failed, and the agent undid the attempt, or could not (ADR 0046). */
function afterFailedConfirmation({ status, outcome, error }: CommandEvidence): AttemptEnd {
  const why = reason('health_failed', { error });
  if (outcome === 'rolled_back') {
    return { status: 'failed', phase: 'ROLLED_BACK', reason: why, nodeState: 'prior', incident: null, undone: true };
  }
  // the new version runs, healthy, and whether its last step was done is unknown: a person must look
  if (status === 'expired') return { ...failedRollback(error), reason: reason('agent_unreachable') };
  return failedRollback(error);
}

/** B5a. Heartbeats tell soon whether the node is up; nothing claims that before. */
function unreachable(): AttemptEnd {
  return { status: 'failed', reason: reason('agent_unreachable'), nodeState: 'down', incident: null, undone: false };
}

/** C9: one critical incident, the node degraded, no further automatic action. */
function failedRollback(error: string): AttemptEnd {
  return {
    status: 'failed',
    phase: 'FAILED_ROLLBACK',
    reason: reason('failed_rollback', { error }),
    nodeState: 'degraded',
    incident: 'upgrade_failed',
    undone: false,
  };
}
