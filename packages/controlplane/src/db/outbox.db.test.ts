import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { wakeRollout } from '../engine/engine-outbox.ts';
import { deliverBatch, type Outbox, retryDelayMs } from './outbox.ts';

interface Row {
  id: number;
  workflow_id: string;
}

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
beforeEach(() => database.db.deleteFrom('engine_messages').execute());
afterAll(() => database.dispose());

/** An outbox over `engine_messages`, so that locks are real; `deliver` is the world outside. */
function outboxTo(deliver: (row: Row) => Promise<void>): Outbox<Row> {
  return {
    claim: (tx, limit) =>
      tx
        .selectFrom('engine_messages')
        .select(['id', 'workflow_id'])
        .where('next_attempt_at', '<=', sql<Date>`clock_timestamp()`)
        .orderBy('id')
        .limit(limit)
        .forUpdate()
        .skipLocked()
        .execute(),
    addressOf: (row) => row.workflow_id,
    deliver,
    settle: async (tx, rows) => {
      await tx
        .deleteFrom('engine_messages')
        .where(
          'id',
          'in',
          rows.map(({ id }) => id),
        )
        .execute();
    },
    postpone: async (tx, rows, error) => {
      await tx
        .updateTable('engine_messages')
        .set({
          last_error: error.message,
          attempts: sql`attempts + 1`,
          next_attempt_at: sql`now() + interval '1 hour'`,
        })
        .where(
          'id',
          'in',
          rows.map(({ id }) => id),
        )
        .execute();
    },
  };
}

describe('deliverBatch', () => {
  it('delivers each address once a batch and settles all its rows', async () => {
    for (const id of ['a', 'a', 'b', 'a']) await wakeRollout(database.db, id);
    const delivered: string[] = [];
    const count = await deliverBatch(
      database.db,
      outboxTo(async (row) => void delivered.push(row.workflow_id)),
      100,
    );
    expect({ count, delivered: delivered.sort() }).toEqual({ count: 4, delivered: ['rollout-a', 'rollout-b'] });
    expect(await database.db.selectFrom('engine_messages').selectAll().execute()).toEqual([]);
  });

  it('keeps what could not be delivered, with the error, and settles the rest', async () => {
    for (const id of ['bad', 'good']) await wakeRollout(database.db, id);
    await deliverBatch(
      database.db,
      outboxTo(async ({ workflow_id }) => {
        if (workflow_id === 'rollout-bad') throw new Error('engine is down');
      }),
      100,
    );
    const left = await database.db
      .selectFrom('engine_messages')
      .select(['workflow_id', 'attempts', 'last_error'])
      .execute();
    expect(left).toEqual([{ workflow_id: 'rollout-bad', attempts: 1, last_error: 'engine is down' }]);
  });

  it('shares the work among relays: no row is delivered by two', async () => {
    for (let i = 0; i < 40; i++) await wakeRollout(database.db, String(i));
    const delivered: string[] = [];
    const outbox = outboxTo(async (row) => void delivered.push(row.workflow_id));
    while ((await Promise.all([1, 2, 3, 4].map(() => deliverBatch(database.db, outbox, 5)))).some((n) => n > 0));
    expect(new Set(delivered).size).toBe(40);
    expect(delivered).toHaveLength(40);
  });

  it('delivers again what was delivered but not settled', async () => {
    await wakeRollout(database.db, 'a');
    const delivered: string[] = [];
    const dying = {
      ...outboxTo(async (row) => void delivered.push(row.workflow_id)),
      settle: () => Promise.reject(new Error('connection lost')),
    };
    await expect(deliverBatch(database.db, dying, 10)).rejects.toThrow('connection lost');
    await deliverBatch(database.db, { ...dying, settle: outboxTo(dying.deliver).settle }, 10);
    expect(delivered).toEqual(['rollout-a', 'rollout-a']);
  });
});

describe('retryDelayMs', () => {
  it('doubles up to 30 s and spreads over the upper half', () => {
    expect([0, 1, 2, 6, 40].map((attempts) => retryDelayMs(attempts, () => 1))).toEqual([
      500, 1000, 2000, 30_000, 30_000,
    ]);
    expect(retryDelayMs(40, () => 0)).toBe(15_000);
  });
});
