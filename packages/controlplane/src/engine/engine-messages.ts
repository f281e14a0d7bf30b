import type { Selectable, Transaction } from 'kysely';
import type { EngineMessagesTable, Tables } from '../db/generated/tables.ts';
import { type Outbox, retryDelayMs } from '../db/outbox.ts';

export type EngineMessage = Selectable<EngineMessagesTable>;

/** The rows of `engine_messages` as an outbox (B4); `deliver` is what the relay does with one address. */
export function engineMessageOutbox(deliver: (message: EngineMessage) => Promise<void>): Outbox<EngineMessage> {
  return {
    claim: (tx, limit) =>
      tx
        .selectFrom('engine_messages')
        .selectAll()
        .where('next_attempt_at', '<=', new Date())
        .orderBy('id')
        .limit(limit)
        .forUpdate()
        .skipLocked()
        .execute(),
    addressOf: ({ workflow_id, signal, activity_id }) => `${workflow_id} ${signal ?? ''} ${activity_id ?? ''}`,
    deliver,
    settle: async (tx, rows) => {
      await tx.deleteFrom('engine_messages').where('id', 'in', ids(rows)).execute();
    },
    postpone,
  };
}

async function postpone(tx: Transaction<Tables>, rows: readonly EngineMessage[], error: Error): Promise<void> {
  const attempts = Math.max(...rows.map((row) => row.attempts));
  await tx
    .updateTable('engine_messages')
    .set({
      attempts: attempts + 1,
      next_attempt_at: new Date(Date.now() + retryDelayMs(attempts)),
      last_error: error.message,
    })
    .where('id', 'in', ids(rows))
    .execute();
}

function ids(rows: readonly EngineMessage[]): number[] {
  return rows.map((row) => row.id);
}
