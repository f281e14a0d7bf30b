import type { JsonValue } from '@bufbuild/protobuf';
import type { AgentOperation } from '@hoodcloud/domain/agent-operation';
import { AgentError } from '../agent-error.ts';
import type { BeforeState } from './action.ts';
import type { AttemptProgress } from './attempt-progress.ts';
import type { ConfigDrift } from './drift-reporting.ts';
import type { ExecutionOutcome } from './executor.ts';

/** All that the host remembers of one attempt: one file, replaced atomically (A5). */
export interface AttemptRecord {
  readonly format: 1;
  readonly attemptId: string;
  readonly binaryName: string;
  /** The UPGRADE's payload as protobuf JSON: a restarted agent goes on without its control plane. */
  readonly payload: JsonValue;
  /** How the service was found, written before anything was done (A3). */
  readonly before: BeforeState;
  readonly progress: AttemptProgress;
  /** How the last execution ended; null while one is under way. */
  outcome: ExecutionOutcome | null;
  readonly operations: Partial<Record<AgentOperation, OperationRecord>>;
  /** Last lines of the failed version's log, oldest first (A18). */
  logTail: string[];
  /** Configs that were found edited on the host (E4); absent when none was. */
  configDrifts?: ConfigDrift[];
  /** Proved good by a CONFIRM (B2). */
  confirmed: boolean;
  readonly createdAtMs: number;
  /** Of a rollback that an operator ordered on the host: the attempt as before which everything is put back. */
  readonly undoes?: string;
}

/** One operation that was commanded for the attempt (B2). */
export interface OperationRecord {
  commandId: string;
  /** Host's clock, milliseconds since the epoch; past it the way goes back, not forward (A4). */
  deadlineAtMs: number;
  /** CommandResult as protobuf JSON; null while it is under way. */
  result: JsonValue | null;
  /** The control plane has stored the result. */
  acknowledged: boolean;
}

/** Operations that were begun and have no result. */
export function openOperations(record: AttemptRecord): [AgentOperation, OperationRecord][] {
  return operationsOf(record).filter(([, { result }]) => result === null);
}

/** Operations whose result the control plane has not confirmed to have. */
export function unacknowledged(record: AttemptRecord): [AgentOperation, OperationRecord][] {
  return operationsOf(record).filter(([, { result, acknowledged }]) => result !== null && !acknowledged);
}

/**
 * The rollback by hand that took an attempt back, if one did and was not taken back itself: then the attempt no longer
 * stands on the host, whatever its own record says.
 */
export function undoneByHand(records: readonly AttemptRecord[], attemptId: string): AttemptRecord | undefined {
  return records.find(
    (record) =>
      record.undoes === attemptId &&
      record.outcome === 'completed' &&
      undoneByHand(records, record.attemptId) === undefined,
  );
}

/** Every step is in doubt again: the host is asked, and what was ours stays ours to undo. */
export function reopen(record: AttemptRecord): void {
  record.outcome = null;
  for (const step of record.progress.steps) if (step.state === 'executed') step.state = 'intended';
}

/** The answer to whoever names an attempt that this host knows nothing of. */
export function unknownAttempt(attemptId: string): AgentError {
  return new AgentError('unknown_attempt', `this host knows nothing of attempt ${attemptId}: it never began here`);
}

function operationsOf({ operations }: AttemptRecord): [AgentOperation, OperationRecord][] {
  return Object.entries(operations) as [AgentOperation, OperationRecord][];
}
