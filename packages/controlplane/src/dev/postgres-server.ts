import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { ChildServer, freePort, StoreNotReadyError } from './child-server.ts';
import { postgresPrograms, postgresUser } from './postgres-binaries.ts';

const START_MS = 120_000;
const BIND_ATTEMPTS = 5;

export interface PostgresServerOptions {
  /** Holds the cluster (`data/`) and the log; made when missing, kept by stop(). */
  folder: string;
  /** 0 or left out: a free one. */
  port?: number;
  /**
   * True for people's data: every commit reaches the disk, and connecting takes a password, made with the cluster and kept
   * beside it for its owner's eyes. False for tests: fsync is off (a killed server loses nothing, a power cut may), and
   * whoever reaches the loopback port may connect.
   */
  durable: boolean;
}

/**
 * A real Postgres as a child process on loopback. `synchronous_commit` stays on always, so what was committed outlives
 * kill(). One object is one cluster; start() again after kill() or stop() keeps port and data.
 */
export class PostgresServer {
  readonly #folder: string;
  readonly #options: PostgresServerOptions;
  #port: number;
  #password: string | undefined;
  #server: ChildServer | undefined;

  private constructor(options: PostgresServerOptions) {
    this.#options = options;
    this.#folder = resolve(options.folder);
    this.#port = options.port ?? 0;
  }

  /** Makes the cluster when the folder holds none, starts it, and answers when it takes connections. */
  static async start(options: PostgresServerOptions): Promise<PostgresServer> {
    const server = new PostgresServer(options);
    server.#initialise();
    server.#readPassword();
    await server.start();
    return server;
  }

  /** postgres://… of one database of this cluster. */
  url(database = 'postgres'): string {
    const secret = this.#password === undefined ? '' : `:${this.#password}`;
    return `postgres://postgres${secret}@127.0.0.1:${this.#port}/${database}`;
  }

  /** The postmaster's process id. */
  get pid(): number {
    if (this.#server === undefined) throw new StoreNotReadyError('Postgres is not running.');
    return this.#server.pid;
  }

  /**
   * Starts the stopped or killed cluster again on its port. Tried several times: a port found free may be taken in the
   * same moment, and after kill() the old server's last processes may hold its shared memory for a blink.
   */
  async start(): Promise<void> {
    const wanted = this.#port;
    for (let attempt = 1; ; attempt += 1) {
      this.#port = wanted === 0 ? await freePort() : wanted;
      try {
        return await this.#startOnce();
      } catch (error) {
        if (attempt === BIND_ATTEMPTS || !(error instanceof StoreNotReadyError)) throw error;
      }
    }
  }

  /** Ends the cluster as a crash would: SIGKILL to the postmaster; its children notice and end. */
  async kill(): Promise<void> {
    await this.#server?.stop('SIGKILL');
    this.#server = undefined;
    rmSync(join(this.#folder, 'data/postmaster.pid'), { force: true }); // names a pid that a new process may get
  }

  /** Ends the cluster in order, cutting open connections ("fast" shutdown). */
  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  #initialise(): void {
    const data = join(this.#folder, 'data');
    if (existsSync(join(data, 'PG_VERSION'))) return;
    const user = postgresUser();
    mkdirSync(data, { recursive: true, mode: 0o700 });
    if (user) chownSync(data, user.uid, user.gid);
    const forInitdb = join(this.#folder, 'password-for-initdb');
    const auth = this.#options.durable ? ['--auth=scram-sha-256', `--pwfile=${forInitdb}`] : ['--auth=trust'];
    try {
      if (this.#options.durable) this.#makePassword(forInitdb, user);
      execFileSync(
        postgresPrograms().initdb,
        [`--pgdata=${data}`, '--username=postgres', '--encoding=UTF8', '--locale=C', '--no-sync', ...auth],
        { cwd: '/', env: this.#environment(), stdio: 'pipe', ...user },
      );
    } catch (error) {
      rmSync(data, { recursive: true, force: true }); // half a cluster would look like a whole one next time
      throw new StoreNotReadyError(`initdb could not make a Postgres cluster in ${data}: ${message(error)}`, {
        cause: error,
      });
    } finally {
      rmSync(forInitdb, { force: true });
    }
  }

  /** Writes a new password twice: for us to keep, and for initdb, which may run as another user, to read once. */
  #makePassword(forInitdb: string, user: { uid: number; gid: number } | undefined): void {
    const password = randomBytes(24).toString('base64url');
    for (const path of [this.#passwordFile(), forInitdb]) writeFileSync(path, `${password}\n`, { mode: 0o600 });
    if (user) chownSync(forInitdb, user.uid, user.gid);
  }

  /** A cluster of a test, or one that is older than its password file, has none. */
  #readPassword(): void {
    const kept = existsSync(this.#passwordFile());
    this.#password = kept ? readFileSync(this.#passwordFile(), 'utf8').trim() : undefined;
  }

  #passwordFile(): string {
    return join(this.#folder, 'password');
  }

  async #startOnce(): Promise<void> {
    const settings = [
      ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200', 'shared_buffers=64MB'],
      ...(this.#options.durable ? [] : ['fsync=off', 'full_page_writes=off']),
    ];
    const server = new ChildServer({
      name: 'Postgres',
      program: postgresPrograms().postgres,
      args: ['-D', join(this.#folder, 'data'), '-p', String(this.#port), ...settings.flatMap((it) => ['-c', it])],
      endSignal: 'SIGINT',
      logFile: join(this.#folder, 'postgres.log'),
      cwd: '/', // the user postgres may not be allowed to stand in the caller's folder
      env: this.#environment(),
      ...postgresUser(),
    });
    try {
      await server.waitUntilReady(() => this.#ping(), START_MS);
    } catch (error) {
      await server.stop('SIGKILL');
      throw error;
    }
    this.#server = server;
  }

  async #ping(): Promise<void> {
    const client = new Client({ connectionString: this.url(), connectionTimeoutMillis: START_MS });
    client.on('error', () => undefined); // a server that ends while we ask: the rejected query says so
    try {
      await client.connect();
      await client.query('select 1');
    } finally {
      await client.end();
    }
  }

  #environment(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
  }
}

function message(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return stderr || String(error);
}
