import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer } from '@hoodcloud/controlplane/dev/postgres-server';
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

it('asks for a password where people’s data is, and keeps it over restarts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-durable-'));
  await chmod(folder, 0o755);
  const server = await PostgresServer.start({ folder, durable: true });
  try {
    const anonymous = new URL(server.url());
    anonymous.password = '';
    await expect(query(anonymous.href, 'select 1')).rejects.toThrow(/password/);
    await server.stop();
    const again = await PostgresServer.start({ folder, durable: true });
    expect(await query(again.url(), 'show fsync')).toEqual([{ fsync: 'on' }]);
    await again.stop();
    expect((await stat(join(folder, 'password'))).mode & 0o777).toBe(0o600);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
