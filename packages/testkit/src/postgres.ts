import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer } from '@hoodcloud/controlplane/dev/postgres-server';
import { Client } from 'pg';

/** Where the vitest run's shared server is; test/set-up/postgres.ts sets it unless it is set already. */
const SHARED_URL = 'HOODCLOUD_TEST_DATABASE_URL';

export interface TestPostgres {
  server: PostgresServer;
  /** Ends the server and removes its files. */
  dispose(): Promise<void>;
}

/**
 * A Postgres of the caller's own, for tests that crash it: `server.kill()`, `server.start()`. What only needs a database
 * takes createTestDatabase, which shares one server.
 */
export async function startTestPostgres(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-postgres-'));
  await chmod(folder, 0o755); // the user postgres must reach the data below it
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const server = await PostgresServer.start({ folder, durable: false });
    return { server, dispose: () => server.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

export interface TestDatabase {
  name: string;
  url: string;
  /** Removes it, ending whatever is still connected. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** Brings an empty database to the state every test file starts from. Runs once a run for a `template`. */
  migrate(url: string): Promise<void>;
  /** Names the state that `migrate` makes; another content needs another name. */
  template?: string;
}

/**
 * A database of the caller's own: a copy of a template that is migrated once a run, so that it costs some 30 ms instead
 * of all migrations. Needs the shared server (vitest projects db, workflow and e2e have one).
 */
export async function createTestDatabase({
  migrate,
  template = 'migrated',
}: TestDatabaseOptions): Promise<TestDatabase> {
  const admin = process.env[SHARED_URL];
  if (!admin)
    throw new Error(`${SHARED_URL} is not set: run this test in a vitest project that has a server (docs/testing.md).`);
  const templateName = `template_${template}`;
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withClient(admin, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [templateName]); // released when the connection ends
    await ensureTemplate(client, admin, templateName, migrate);
    await client.query(`create database ${name} template ${templateName}`);
  });
  return {
    name,
    url: databaseUrl(admin, name),
    drop: () => withClient(admin, (client) => client.query(`drop database if exists ${name} with (force)`)),
  };
}

async function ensureTemplate(
  client: Client,
  admin: string,
  name: string,
  migrate: TestDatabaseOptions['migrate'],
): Promise<void> {
  const { rows } = await client.query('select datistemplate from pg_database where datname = $1', [name]);
  if (rows[0]?.datistemplate) return;
  await client.query(`drop database if exists ${name} with (force)`); // a migration that failed half-way
  await client.query(`create database ${name}`);
  await migrate(databaseUrl(admin, name));
  await client.query(`alter database ${name} is_template true`);
}

function databaseUrl(admin: string, name: string): string {
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.href;
}

async function withClient(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
