import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Notifications } from './notifications.ts';

/** Long enough for a busy machine; a condition that holds ends the wait at once. */
const SOON = { timeout: 30_000 };

let database: MigratedDatabase;
let notifications: Notifications;
const errors: string[] = [];

beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterEach(() => notifications.close());
afterAll(() => database.dispose());

async function listenOn(channel: string): Promise<{ heard: (string | null)[]; stop: () => void }> {
  notifications = await Notifications.open(database.url, (error) => errors.push(error.message));
  const heard: (string | null)[] = [];
  const stop = await notifications.listen(channel, (payload) => heard.push(payload));
  return { heard, stop };
}

it('brings what is notified on the channel, and nothing of others', async () => {
  const { heard } = await listenOn('mine');
  await database.pool.query("select pg_notify('other', 'a'), pg_notify('mine', 'b')");
  await vi.waitFor(() => expect(heard).toEqual(['b']), SOON);
});

it('wakes every listener after a reconnect, since messages may have been missed, and hears again', async () => {
  const { heard } = await listenOn('mine');
  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'hoodcloud listen' and datname = current_database()",
  );
  await vi.waitFor(() => expect(heard).toEqual([null]), SOON);
  await database.pool.query("select pg_notify('mine', 'after')");
  await vi.waitFor(() => expect(heard).toEqual([null, 'after']), SOON);
  expect(errors.length).toBeGreaterThan(0);
});

it('says nothing to a listener that went away', async () => {
  const { heard, stop } = await listenOn('mine');
  const still: (string | null)[] = [];
  await notifications.listen('mine', (payload) => still.push(payload));
  stop();
  await database.pool.query("select pg_notify('mine', 'x')");
  await vi.waitFor(() => expect(still).toEqual(['x']), SOON);
  expect(heard).toEqual([]);
});
