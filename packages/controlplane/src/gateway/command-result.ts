import { toJson } from '@bufbuild/protobuf';
import { type CommandResult, CommandResultSchema, Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import {
  type AgentOperation,
  isOfAttempt,
  type OperationOutcome,
  type StagingOperation,
} from '@hoodcloud/domain/agent-operation';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { completeActivity } from '../engine/engine-outbox.ts';
import { noteUnasked } from '../staging/unasked-result.ts';
import { OPEN_COMMAND_STATUSES } from './command-store.ts';
import { BadMessageError } from './gateway-error.ts';
import { storableJson } from './storable-json.ts';

/** What became of a result. `unknown`: no such command of this node, e.g. after the database was restored. */
export type ResultFate = 'applied' | 'repeated' | 'late' | 'unknown';

const OUTCOMES: Readonly<Record<Outcome, OperationOutcome | null>> = {
  [Outcome.UNSPECIFIED]: null,
  [Outcome.COMPLETED]: 'completed',
  [Outcome.ROLLED_BACK]: 'rolled_back',
  [Outcome.FAILED_ROLLBACK]: 'failed_rollback',
  [Outcome.REFUSED]: 'refused',
};

const OPERATIONS: Readonly<Record<Operation, AgentOperation | StagingOperation | null>> = {
  [Operation.UNSPECIFIED]: null,
  [Operation.UPGRADE]: 'UPGRADE',
  [Operation.COMPENSATE]: 'COMPENSATE',
  [Operation.CONFIRM]: 'CONFIRM',
  [Operation.STAGE]: 'STAGE',
  [Operation.UNSTAGE]: 'UNSTAGE',
};

/**
 * Stores an agent's result: the row ends and the engine is told in one transaction (B4). A row that has ended is never
 * rewritten: the same result again is nothing new, one that comes after the deadline is kept beside it and shown (B5a).
 * @throws BadMessageError when it says nothing, or is of another attempt or operation than the command; nothing is stored
 */
export async function recordResult(db: Database, nodeId: string, result: CommandResult): Promise<ResultFate> {
  const outcome = OUTCOMES[result.outcome];
  if (!outcome) throw new BadMessageError(`result of command ${result.commandId} has no outcome`);
  return db.transaction().execute(async (tx) => {
    const command = await tx
      .selectFrom('agent_commands')
      .select(['id', 'status', 'attempt_id', 'operation', 'workflow_id', 'outcome'])
      .where('id', '=', result.commandId)
      .where('node_id', '=', nodeId)
      .forUpdate()
      .executeTakeFirst();
    if (!command) return (await noteUnasked(tx, nodeId, result)) ? 'applied' : 'unknown';
    if (command.attempt_id !== result.attemptId || command.operation !== OPERATIONS[result.operation]) {
      throw new BadMessageError(
        `result of command ${command.id} names attempt ${result.attemptId} and another operation or attempt than ` +
          `${command.operation} of ${command.attempt_id}`,
      );
    }
    if (OPEN_COMMAND_STATUSES.some((open) => open === command.status)) {
      await endCommand(tx, command, outcome, result);
      return 'applied';
    }
    if (command.outcome !== null) return 'repeated';
    await keepLate(tx, command.id, result);
    return 'late';
  });
}

async function endCommand(
  tx: Db,
  command: { id: string; workflow_id: string; operation: AgentOperation | StagingOperation },
  outcome: OperationOutcome,
  result: CommandResult,
): Promise<void> {
  await tx
    .updateTable('agent_commands')
    .set({
      status: outcome === 'completed' ? 'completed' : 'failed',
      outcome,
      result: resultJson(result),
      acknowledged_at: sql<Date>`coalesce(acknowledged_at, clock_timestamp())`,
      // The moment "fresh" is counted from (D1), so not the transaction's start.
      ended_at: sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', command.id)
    .execute();
  // no workflow waits for staging: the staging loop reads its rows
  if (isOfAttempt(command.operation)) await completeActivity(tx, command.workflow_id, command.id);
}

async function keepLate(tx: Db, commandId: string, result: CommandResult): Promise<void> {
  await tx
    .updateTable('agent_commands')
    .set({ late_result: resultJson(result) })
    .where('id', '=', commandId)
    .where('late_result', 'is', null)
    .execute();
}

/** CommandResult as JSON with the wire's snake_case names (C10c); every field is there, also when it is empty. */
function resultJson(result: CommandResult) {
  const value = toJson(CommandResultSchema, result, { useProtoFieldName: true, alwaysEmitImplicit: true });
  return sql<unknown>`${storableJson(value)}::jsonb`;
}
