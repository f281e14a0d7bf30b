import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { destination } from 'pino';
import { apiKeyAuthenticator, createApiKey } from '../auth/api-keys.ts';
import type { Config, DevConfig } from '../config.ts';
import { readConfig } from '../config.ts';
import { type Database, openDatabase, openPool } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { NatsServer, natsProgram } from '../dev/nats-server.ts';
import { PostgresServer } from '../dev/postgres-server.ts';
import { TemporalServer } from '../dev/temporal-server.ts';
import { ProblemError } from '../http/problem-error.ts';
import { processLog } from '../telemetry/process-log.ts';
import { startApiRole } from './api-role.ts';
import { startGatewayRole } from './gateway-role.ts';
import { openProcessParts, type ProcessParts } from './process-parts.ts';
import { startReconcilerRole } from './reconciler-role.ts';
import type { RunningRole } from './role.ts';
import { aborted } from './run-role.ts';
import { startWorkerRole } from './worker-role.ts';

/** What a dev control plane tells other programs of this machine, in `dev.json` of its data folder. */
export interface DevState {
  readonly pid: number;
  readonly url: string;
  readonly api_key: string;
  readonly gateway: string;
  readonly temporal_address: string;
  readonly temporal_ui: string;
  /** Empty: no NATS was found. */
  readonly nats_url: string;
  readonly database_url: string;
  readonly config_dir: string;
}

/**
 * Every role in one process, with real Postgres and Temporal as its children on loopback; what they hold is kept in the
 * data folder. Ends when the signal aborts, in reverse order.
 */
export async function runDev(dev: DevConfig, stop: AbortSignal): Promise<void> {
  const stack: (() => Promise<void>)[] = [];
  const later = (end: () => Promise<void>) => void stack.push(end);
  try {
    await startAll(dev, stop, later);
  } finally {
    await endAll(stack.reverse());
  }
}

/** Ends everything even when some of it can't be ended, so that no store outlives the process. */
async function endAll(ends: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'not everything ended as it should');
}

async function startAll(dev: DevConfig, stop: AbortSignal, later: (end: () => Promise<void>) => void): Promise<void> {
  const dataDir = resolve(dev.dataDir ?? defaultDataDir());
  for (const folder of [dataDir, join(dataDir, 'postgres')]) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755); // the user postgres must reach its data below
  }
  const logFile = join(dataDir, 'hoodcloud.log');
  say(`Everything is kept in ${dataDir}; the log is ${logFile}`);
  const postgres = await PostgresServer.start({ folder: join(dataDir, 'postgres'), durable: true });
  later(() => postgres.stop());
  const temporal = await startTemporal(dev, dataDir, later);
  const natsUrl = await startNats(dataDir, later);
  const config = devConfig(dev, dataDir, { postgres: postgres.url(), temporal: temporal.address, nats: natsUrl });
  await migrateTo(config.databaseUrl);
  const log = processLog(config.logLevel, { instance: config.instance }, destination({ dest: logFile, sync: false }));
  const parts = await openProcessParts(config, log);
  later(() => parts.close());
  const roles = await startRoles(parts, join(dataDir, 'cache'), later);
  const addressOf = (role: string) => roles.find(({ name }) => name === role)?.address ?? '';
  const [url, gateway] = [addressOf('api'), addressOf('gateway')];
  const apiKey = await devApiKey(parts.db, dataDir);
  writeState(dataDir, {
    pid: process.pid,
    url,
    api_key: apiKey,
    gateway,
    temporal_address: temporal.address,
    temporal_ui: temporal.ui,
    nats_url: natsUrl ?? '',
    database_url: config.databaseUrl,
    config_dir: config.configDir,
  });
  say(`Dashboard        ${url}/`);
  say(`API key          ${apiKey}`);
  say(`Log in by        HOODCLOUD_API_KEY=${apiKey} hoodctl login --url ${url}`);
  say(`Chain files in   ${config.configDir}`);
  say(`Agents join at   ${gateway}${config.gatewayTls === null ? ' (of this machine only, without TLS)' : ''}`);
  say(`Temporal's pages ${temporal.ui || '(of the server at TEMPORAL_ADDRESS)'}`);
  say(`Events in NATS   ${natsUrl ?? '(no nats-server on this machine; API and hoodctl have them)'}`);
  say('Ready. Ctrl-C ends it; what was stored stays.');
  await Promise.race([aborted(stop), ...roles.map(({ failed }) => failed)]);
  say('Stopping …');
}

/** The server that the settings name, or one as a child with its pages. */
async function startTemporal(
  dev: DevConfig,
  dataDir: string,
  later: (end: () => Promise<void>) => void,
): Promise<{ readonly address: string; readonly ui: string }> {
  if (dev.temporalAddress !== null) return { address: dev.temporalAddress, ui: '' };
  const server = await TemporalServer.start({
    folder: join(dataDir, 'temporal'),
    uiPort: dev.temporalUiPort,
    durable: true,
  });
  later(() => server.stop());
  return { address: server.address, ui: `http://127.0.0.1:${dev.temporalUiPort}` };
}

async function startRoles(
  parts: ProcessParts,
  cache: string,
  later: (end: () => Promise<void>) => void,
): Promise<RunningRole[]> {
  const roles: RunningRole[] = [];
  const start = async (role: Promise<RunningRole>) => {
    const running = await role;
    later(() => running.stop());
    roles.push(running);
  };
  await start(startWorkerRole(parts, cache));
  await start(startReconcilerRole(parts));
  await start(startGatewayRole(parts));
  await start(startApiRole(parts));
  return roles;
}

/** The server that the settings name, or one as a child where this machine has the program; null: events stay in the outbox. */
async function startNats(dataDir: string, later: (end: () => Promise<void>) => void): Promise<string | null> {
  if (process.env.HOODCLOUD_NATS_URL) return process.env.HOODCLOUD_NATS_URL;
  if (natsProgram() === null) return null;
  const server = await NatsServer.start({ folder: join(dataDir, 'nats') });
  later(() => server.stop());
  return server.url;
}

interface Stores {
  readonly postgres: string;
  readonly temporal: string;
  readonly nats: string | null;
}

function devConfig(dev: DevConfig, dataDir: string, stores: Stores): Config {
  const configDir = resolve(dev.configDir ?? join(dataDir, 'chains'));
  mkdirSync(configDir, { recursive: true });
  return readConfig({
    ...process.env,
    DATABASE_URL: stores.postgres,
    TEMPORAL_ADDRESS: stores.temporal,
    ...(stores.nats !== null && { HOODCLOUD_NATS_URL: stores.nats }),
    HOODCLOUD_CONFIG_DIR: configDir,
    HOODCLOUD_API_LISTEN: `127.0.0.1:${dev.apiPort}`,
    HOODCLOUD_GATEWAY_LISTEN: dev.gatewayListen,
  });
}

async function migrateTo(databaseUrl: string): Promise<void> {
  const db = openDatabase(openPool(databaseUrl, { max: 1, onIdleError: (error) => say(`database: ${error.message}`) }));
  try {
    await migrate(db);
  } finally {
    await db.destroy();
  }
}

/** Root's home can't be reached by the user that Postgres runs as. */
function defaultDataDir(): string {
  if (process.getuid?.() === 0) return '/var/lib/hoodcloud-dev';
  return join(process.env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'hoodcloud-dev');
}

/** The key of an earlier start while it holds, else a new one. */
async function devApiKey(db: Database, dataDir: string): Promise<string> {
  const kept = readState(dataDir)?.api_key;
  if (kept !== undefined && (await stillHolds(db, kept))) return kept;
  const taken = await db.selectFrom('api_keys').select('id').where('name', '=', 'dev').executeTakeFirst();
  const name = taken ? `dev-${new Date().toISOString()}` : 'dev';
  return (await createApiKey(db, { name, createdBy: 'system:dev' })).key;
}

async function stillHolds(db: Database, key: string): Promise<boolean> {
  try {
    return (await apiKeyAuthenticator(db).authenticate(key)) !== null;
  } catch (error) {
    if (error instanceof ProblemError) return false; // revoked, or of another database
    throw error;
  }
}

function readState(dataDir: string): DevState | null {
  const file = join(dataDir, 'dev.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DevState) : null;
}

/** Holds the API key, so only its owner may read it. */
function writeState(dataDir: string, state: DevState): void {
  const file = join(dataDir, 'dev.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
