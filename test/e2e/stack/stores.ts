import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPool } from '@hoodcloud/controlplane/db/database';
import type { PostgresServer } from '@hoodcloud/controlplane/dev/postgres-server';
import { TemporalServer } from '@hoodcloud/controlplane/dev/temporal-server';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@hoodcloud/testkit/postgres';
import { sharedTemporalAddress } from '@hoodcloud/testkit/temporal';

/** Postgres and Temporal as the roles see them. */
export interface Stores {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  dispose(): Promise<void>;
}

/** A database of the test's own on the run's shared servers. */
export async function sharedStores(): Promise<Stores> {
  const database = await createTestDatabase({ template: 'empty', migrate: async () => undefined });
  return { databaseUrl: database.url, temporalAddress: sharedTemporalAddress(), dispose: () => database.drop() };
}

/** Servers of the test's own, which it may crash: they come back on the same addresses with what they had stored. */
export class OwnStores implements Stores {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly #postgres: TestPostgres;
  #temporal: TemporalServer;
  readonly #folder: string;

  private constructor(folder: string, postgres: TestPostgres, databaseUrl: string, temporal: TemporalServer) {
    this.#folder = folder;
    this.#postgres = postgres;
    this.databaseUrl = databaseUrl;
    this.#temporal = temporal;
    this.temporalAddress = temporal.address;
  }

  static async start(): Promise<OwnStores> {
    const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-stores-'));
    const postgres = await startTestPostgres();
    const temporal = await TemporalServer.start({ folder, durable: false });
    const name = `e2e_${randomBytes(4).toString('hex')}`;
    await onPostgres(postgres.server, (pool) => pool.query(`create database ${name}`));
    return new OwnStores(folder, postgres, postgres.server.url(name), temporal);
  }

  get postgres(): PostgresServer {
    return this.#postgres.server;
  }

  /** SIGKILL to the Temporal server. */
  async killTemporal(): Promise<void> {
    await this.#temporal.kill();
  }

  async startTemporal(): Promise<void> {
    const port = Number(this.temporalAddress.split(':')[1]);
    this.#temporal = await TemporalServer.start({ folder: this.#folder, port, durable: false });
  }

  /** Cuts every connection to the database, as a restarted proxy or a failover does. @returns how many */
  async cutConnections(): Promise<number> {
    const database = new URL(this.databaseUrl).pathname.slice(1);
    return onPostgres(this.postgres, async (pool) => {
      const { rowCount } = await pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
        [database],
      );
      return rowCount ?? 0;
    });
  }

  /** Connections to the database, of whoever. */
  async countConnections(): Promise<number> {
    const query = 'select count(*)::int as n from pg_stat_activity where datname = $1';
    const name = new URL(this.databaseUrl).pathname.slice(1);
    return onPostgres(this.postgres, async (pool) => (await pool.query(query, [name])).rows[0].n);
  }

  async dispose(): Promise<void> {
    await this.#temporal.stop();
    await this.#postgres.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

type Pool = ReturnType<typeof openPool>;

async function onPostgres<T>(server: PostgresServer, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(server.url(), { max: 1, onIdleError: () => undefined });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
