import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type CommandResult, CommandResultSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { type AgentOperation, attemptId } from '@hoodcloud/domain/agent-operation';
import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { AgentCommandsTable, HealthValidationsTable } from '../db/generated/tables.ts';
import type { AttemptRef } from '../workflows/activity-types.ts';

export type AgentCommandRow = Selectable<AgentCommandsTable>;

/** The attempt's name on the wire and in rows (A5). */
export function attemptIdOf({ rolloutId, nodeId, attempt }: AttemptRef): string {
  return attemptId(rolloutId, nodeId, attempt);
}

/** The command of an attempt for one operation; null when it was not sent. */
export async function findCommand(db: Db, ref: AttemptRef, operation: AgentOperation): Promise<AgentCommandRow | null> {
  const row = await db
    .selectFrom('agent_commands')
    .selectAll()
    .where('attempt_id', '=', attemptIdOf(ref))
    .where('operation', '=', operation)
    .executeTakeFirst();
  return row ?? null;
}

export async function findValidation(db: Db, ref: AttemptRef): Promise<Selectable<HealthValidationsTable> | null> {
  const row = await db
    .selectFrom('health_validations')
    .selectAll()
    .where('attempt_id', '=', attemptIdOf(ref))
    .executeTakeFirst();
  return row ?? null;
}

/** The agent's result as the wire has it; null while there is none. */
export function resultOf(command: Pick<AgentCommandRow, 'result'> | null): CommandResult | null {
  if (!command?.result) return null;
  return fromJson(CommandResultSchema, command.result as JsonValue, { ignoreUnknownFields: true });
}

/** Notes that the workflow has read what ended, so that the sweep no longer tells it (B4). */
export async function takeResults(db: Db, ref: AttemptRef): Promise<void> {
  const taken = { result_taken_at: new Date() };
  for (const table of ['agent_commands', 'health_validations'] as const) {
    await db
      .updateTable(table)
      .set(taken)
      .where('attempt_id', '=', attemptIdOf(ref))
      .where('ended_at', 'is not', null)
      .where('result_taken_at', 'is', null)
      .execute();
  }
}
