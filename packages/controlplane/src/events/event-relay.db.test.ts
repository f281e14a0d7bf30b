import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { appendEvent } from './append-event.ts';
import { publishEvents } from './event-relay.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

const node = '11111111-1111-4111-8111-111111111111';
const event = (kind: 'node_joined' | 'node_state_changed') =>
  ({ kind, subjectType: 'node', subjectId: node, nodeId: node, actor: 'system:test' }) as const;

async function published(): Promise<{ kind: string; published_seq: number | null }[]> {
  return database.db.selectFrom('events').select(['kind', 'published_seq']).orderBy('published_seq').execute();
}

it('numbers an event that commits late after those that readers have seen already (C11)', async () => {
  const slow = await database.db.startTransaction().execute();
  await appendEvent(slow, event('node_joined')); // takes the lower id
  await appendEvent(database.db, event('node_state_changed'));
  expect(await publishEvents(database.db)).toBe(1);
  await slow.commit().execute();
  expect(await publishEvents(database.db)).toBe(1);
  expect(await published()).toEqual([
    { kind: 'node_state_changed', published_seq: 1 },
    { kind: 'node_joined', published_seq: 2 },
  ]);
});

it('gives no number twice when several relays publish at once', async () => {
  for (let i = 0; i < 30; i++) await appendEvent(database.db, event('node_joined'));
  await Promise.all([1, 2, 3, 4].map(() => publishEvents(database.db)));
  const numbers = (await published()).map((row) => row.published_seq);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});
