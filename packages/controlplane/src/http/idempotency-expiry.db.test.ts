import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { json } from '../db/json.ts';
import { idempotencyExpiry } from './idempotency-expiry.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

it('forgets an answer after a day and keeps younger ones', async () => {
  const { db } = database;
  for (const [key, hours] of [
    ['young', 23],
    ['old', 25],
  ] as const) {
    await db
      .insertInto('idempotency_keys')
      .values({
        key,
        actor: 'key:test',
        request_hash: key,
        response_status: 201,
        response_body: json({}),
        created_at: new Date(Date.now() - hours * 3_600_000),
      })
      .execute();
  }
  expect(await idempotencyExpiry(db).run(new Date())).toBe(1);
  expect(await db.selectFrom('idempotency_keys').select('key').execute()).toEqual([{ key: 'young' }]);
});
