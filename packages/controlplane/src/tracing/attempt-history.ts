import type { EventView } from '@hoodcloud/contracts/http/events';
import { attemptId } from '@hoodcloud/domain/agent-operation';
import { z } from 'zod';
import type { Db } from '../db/database.ts';

/** What the agent did for one action, in the order it did them; from the result it sent. */
export interface ActionRun {
  readonly name: string;
  /** executed, already_done, failed, compensated, compensate_failed */
  readonly result: string;
  readonly durationMs: number;
  readonly error: string;
}

export interface CommandHistory {
  readonly id: string;
  readonly operation: string;
  readonly outcome: string | null;
  readonly createdAt: Date;
  /** When the agent had it; null: it never had. */
  readonly takenAt: Date | null;
  readonly endedAt: Date;
  readonly error: string;
  readonly actions: readonly ActionRun[];
}

/** All that the rows remember of one attempt that has ended: what a trace is made of. */
export interface AttemptHistory {
  readonly attemptId: string;
  readonly rolloutId: string;
  readonly nodeId: string;
  readonly nodeName: string;
  readonly chainProfileId: string;
  readonly attempt: number;
  readonly direction: string;
  /** The order of a person or program that led to the attempt; null: nobody's is known. */
  readonly order: { readonly kind: string; readonly actor: string; readonly at: Date } | null;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly status: string;
  readonly reason: string;
  readonly commands: readonly CommandHistory[];
  readonly validation: { readonly status: string; readonly createdAt: Date; readonly endedAt: Date } | null;
}

/** `data` of `node_upgrade_started` and `node_upgrade_completed`, as far as it is needed here. */
const attemptData = z.object({ attempt: z.number(), direction: z.string(), to: z.string() });

/** CommandResult as the gateway stores it; older rows and hosts may lack any field. */
const storedResult = z.object({
  error_message: z.string().default(''),
  steps: z
    .array(
      z.object({
        action_name: z.string(),
        result: z.string().default(''),
        duration_ms: z.number().default(0),
        error_message: z.string().default(''),
      }),
    )
    .default([]),
});

/**
 * The history of the attempt whose end an event tells.
 * @returns null for an event that ends no attempt, such as the skip of a node that was never begun
 */
export async function attemptHistory(db: Db, end: EventView): Promise<AttemptHistory | null> {
  const data = attemptData.safeParse(end.data);
  if (end.kind !== 'node_upgrade_completed' || !end.rollout_id || !end.node_id || !data.success) return null;
  const { rollout_id: rolloutId, node_id: nodeId } = end;
  const { attempt, direction, to } = data.data;
  const id = attemptId(rolloutId, nodeId, attempt);
  const startedAt = await startOf(db, end, attempt);
  if (startedAt === null) return null;
  return {
    attemptId: id,
    rolloutId,
    nodeId,
    nodeName: end.node_name ?? nodeId,
    chainProfileId: end.chain_profile_id ?? '',
    attempt,
    direction,
    order: await orderBefore(db, { rolloutId, nodeId, startedAt }),
    startedAt,
    endedAt: new Date(end.occurred_at),
    status: to,
    reason: end.reason?.sentence ?? '',
    commands: await commandsOf(db, id),
    validation: await validationOf(db, id),
  };
}

/** The event that began the attempt: the last of its number before its end. */
async function startOf(db: Db, end: EventView, attempt: number): Promise<Date | null> {
  const starts = await db
    .selectFrom('events')
    .select(['occurred_at', 'data'])
    .where('node_id', '=', end.node_id)
    .where('rollout_id', '=', end.rollout_id)
    .where('kind', '=', 'node_upgrade_started')
    .where('published_seq', '<', end.seq)
    .orderBy('published_seq', 'desc')
    .execute();
  const start = starts.find(({ data }) => attemptData.safeParse(data).data?.attempt === attempt);
  return start?.occurred_at ?? null;
}

async function orderBefore(db: Db, at: { rolloutId: string; nodeId: string; startedAt: Date }) {
  const order = await db
    .selectFrom('rollout_controls')
    .select(['kind', 'actor', 'created_at'])
    .where('rollout_id', '=', at.rolloutId)
    .where('created_at', '<=', at.startedAt)
    .where('kind', 'in', ['start', 'rollback', 'retry'])
    .where((eb) => eb.or([eb('node_id', 'is', null), eb('node_id', '=', at.nodeId)]))
    .orderBy('seq', 'desc')
    .executeTakeFirst();
  return order ? { kind: order.kind, actor: order.actor, at: order.created_at } : null;
}

/** Commands that have ended; the confirmation of an agent that is away may still be open, and nobody waits for it (B2). */
async function commandsOf(db: Db, id: string): Promise<CommandHistory[]> {
  const rows = await db
    .selectFrom('agent_commands')
    .select(['id', 'operation', 'outcome', 'created_at', 'delivered_at', 'acknowledged_at', 'ended_at', 'result'])
    .where('attempt_id', '=', id)
    .where('ended_at', 'is not', null)
    .orderBy('created_at')
    .execute();
  return rows.map((row) => {
    const { error_message: error, steps } = storedResult.parse(row.result ?? {});
    return {
      id: row.id,
      operation: row.operation,
      outcome: row.outcome,
      createdAt: row.created_at,
      takenAt: row.acknowledged_at ?? row.delivered_at,
      endedAt: row.ended_at ?? row.created_at,
      error,
      actions: steps.map((step) => ({
        name: step.action_name,
        result: step.result,
        durationMs: step.duration_ms,
        error: step.error_message,
      })),
    };
  });
}

async function validationOf(db: Db, id: string) {
  const row = await db
    .selectFrom('health_validations')
    .select(['status', 'created_at', 'ended_at'])
    .where('attempt_id', '=', id)
    .where('ended_at', 'is not', null)
    .executeTakeFirst();
  return row?.ended_at ? { status: row.status, createdAt: row.created_at, endedAt: row.ended_at } : null;
}
