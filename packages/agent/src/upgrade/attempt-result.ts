import { create } from '@bufbuild/protobuf';
import { type CommandResult, CommandResultSchema, Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import type { AgentOperation, OperationOutcome, StagingOperation } from '@hoodcloud/domain/agent-operation';
import { AgentError, errnoOf } from '../agent-error.ts';
import { ageMs } from '../host/process-table.ts';
import type { RuntimeAdapter, RuntimeStatus } from '../runtime/runtime-adapter.ts';
import type { AttemptRecord } from './attempt-record.ts';

const OUTCOMES: Readonly<Record<OperationOutcome, Outcome>> = {
  completed: Outcome.COMPLETED,
  rolled_back: Outcome.ROLLED_BACK,
  failed_rollback: Outcome.FAILED_ROLLBACK,
  refused: Outcome.REFUSED,
};

interface Told {
  readonly commandId: string;
  readonly operation: AgentOperation | StagingOperation;
  readonly outcome: OperationOutcome;
}

/** What an operation that ran is answered with: its outcome, and what the host shows now. */
export async function resultOf(
  told: Told,
  record: AttemptRecord,
  runtime: RuntimeAdapter,
  configPaths: readonly string[],
  now: number,
): Promise<CommandResult> {
  const status = await statusIfKnown(runtime);
  const { failure, steps } = record.progress;
  return create(CommandResultSchema, {
    commandId: told.commandId,
    attemptId: record.attemptId,
    operation: Operation[told.operation],
    outcome: OUTCOMES[told.outcome],
    errorCode: failure?.code ?? '',
    errorMessage: errorMessageOf(record),
    failedAction: failure?.action ?? '',
    installedChecksum: status?.installedChecksum ?? '',
    runningChecksum: status?.runningChecksum ?? '',
    leftStopped: !record.before.wantedRunning,
    steps: steps.map(({ name, state, durationMs, errorMessage }) => ({
      actionName: name,
      result: state,
      durationMs: asUint32(durationMs),
      errorMessage: errorMessage ?? '',
    })),
    logTail: record.logTail,
    configDrifts: (record.configDrifts ?? []).map((drift) => ({ ...drift, diff: [...drift.diff] })),
    configChecksums: await checksumsOf(runtime, configPaths),
    downtimeMs: await downtimeMs(record, status, now),
    ...(status !== null && { restarts: asUint32(status.restarts) }),
  });
}

/** A command that was not carried out: nothing was touched. */
export function refusal(
  command: { readonly commandId: string; readonly attemptId: string; readonly operation: Operation },
  error: { readonly code: string; readonly message: string },
): CommandResult {
  return create(CommandResultSchema, {
    ...command,
    outcome: Outcome.REFUSED,
    errorCode: error.code,
    errorMessage: error.message,
  });
}

/** A host that can't be looked at any more doesn't change what was done; the empty checksums say that nothing is proved. */
async function statusIfKnown(runtime: RuntimeAdapter): Promise<RuntimeStatus | null> {
  try {
    return await runtime.status();
  } catch (error) {
    if (error instanceof AgentError || errnoOf(error) !== null) return null;
    throw error;
  }
}

/** Why it was undone and, when the undo failed too, what stands in its way. */
function errorMessageOf({ progress, outcome }: AttemptRecord): string {
  const cause = progress.failure?.message ?? '';
  if (outcome !== 'failed_rollback') return cause;
  const stuck = progress.steps.find(({ state }) => state === 'compensate_failed');
  return stuck === undefined ? cause : `${cause}; then the undo of ${stuck.name} failed: ${stuck.errorMessage}`;
}

/** `sha256:<hex>` per config that is there and may be read; of the others nothing is known, which is no trouble. */
export async function checksumsOf(runtime: RuntimeAdapter, paths: readonly string[]): Promise<Record<string, string>> {
  const found = await Promise.all(paths.map(async (path) => [path, await checksumIfKnown(runtime, path)] as const));
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== null));
}

/** A refused upgrade may have named any path; its record must not darken every heartbeat after it. */
async function checksumIfKnown(runtime: RuntimeAdapter, path: string): Promise<string | null> {
  try {
    return await runtime.configChecksum(path);
  } catch (error) {
    if (error instanceof AgentError || errnoOf(error) !== null) return null;
    throw error;
  }
}

/** From the order to stop until the process that runs now began; 0 when it wasn't stopped, or doesn't run. */
async function downtimeMs(
  { progress, before }: AttemptRecord,
  status: RuntimeStatus | null,
  now: number,
): Promise<number> {
  const stop = progress.steps.find(({ name }) => name === 'stop_node');
  const { mainPid: pid = null, mainPidStartedAt: startedAt = null } = status ?? {};
  if (stop === undefined || pid === null || startedAt === null) return 0;
  if (pid === before.mainPid && startedAt === before.mainPidStartedAt) return 0;
  return asUint32(now - (await ageMs({ pid, startedAt })) - stop.startedAtMs);
}

/** The host's clock may be set in the middle of an upgrade; the wire takes no negative number, and none too large. */
function asUint32(ms: number): number {
  return Math.min(0xffff_ffff, Math.max(0, Math.round(ms)));
}
