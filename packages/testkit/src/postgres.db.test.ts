import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { createTestDatabase, startTestPostgres, type TestDatabase } from './postgres.ts';

const made: TestDatabase[] = [];
afterAll(() => Promise.all(made.map((database) => database.drop())));

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

it('gives each caller a database of its own, migrated once', async () => {
  let migrations = 0;
  const options = {
    template: 'testkit_own_test',
    migrate: async (url: string) => {
      migrations += 1;
      await query(url, 'create table notes (text text)');
    },
  };
  const databases = await Promise.all([1, 2, 3].map(() => createTestDatabase(options)));
  made.push(...databases);
  const [first, second] = databases;
  if (!first || !second) throw new Error('three were asked for');
  await query(first.url, `insert into notes values ('mine')`);
  expect(await query(second.url, 'select * from notes')).toEqual([]);
  expect(migrations).toBe(1);
});

it('makes the template anew when its migration failed half-way', async () => {
  const template = 'testkit_half_way';
  const failing = async (url: string) => {
    await query(url, 'create table half (id int)');
    throw new Error('migration broke');
  };
  await expect(createTestDatabase({ template, migrate: failing })).rejects.toThrow('migration broke');
  const database = await createTestDatabase({
    template,
    migrate: async (url) => void (await query(url, 'create table half (id int)')),
  });
  made.push(database);
  expect(await query(database.url, 'select * from half')).toEqual([]);
});

it('keeps every committed row when the server is killed and started again', async () => {
  const { server, dispose } = await startTestPostgres();
  try {
    const url = server.url();
    await query(url, 'create table kept (n int)');
    const crash = async (n: number) => {
      await query(url, `insert into kept values (${n})`);
      const { pid } = server;
      await server.kill();
      await expect(query(url, 'select 1')).rejects.toThrow();
      await server.start();
      expect(server.pid).not.toBe(pid);
    };
    for (const n of [1, 2, 3]) await crash(n);
    expect(await query(url, 'select n from kept order by n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await query(url, 'show synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
  } finally {
    await dispose();
  }
});
