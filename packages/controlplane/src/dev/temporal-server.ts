import { accessSync, constants, mkdirSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { Connection } from '@temporalio/client';
import { allFree, ChildServer, freePort, StoreNotReadyError } from './child-server.ts';

const START_MS = 180_000;
const START_ATTEMPTS = 4;
const NAMESPACE = 'default';
/** temporal-dev-server listens on its port, the next three, and the same four plus 100. */
const INNER_PORTS = [0, 1, 2, 3, 100, 101, 102, 103];
const PORT_TRIES = 50;
const FIRST_PORT = 12_000;
const PORT_SPAN = 18_000; // ends below the range from which systems hand out ports of their own accord

/** The keyword search attributes of the product's workflows (spec, "Search attributes"). */
export const SEARCH_ATTRIBUTES = ['GroupID', 'ChainProfileID', 'RolloutID', 'Strategy', 'NodeID', 'CorrelationID'];

/** No program that runs a Temporal server is known here. */
export class TemporalProgramMissingError extends Error {
  readonly code = 'TEMPORAL_PROGRAM_MISSING';
  constructor() {
    super(
      'No Temporal server is known: start through `npm start`, `npm run demo` or `npm test`, which find or build one; or set HOODCLOUD_TEMPORAL_BIN to the `temporal` CLI, or TEMPORAL_ADDRESS to a running server.',
    );
  }
}

export interface TemporalServerOptions {
  /** Holds the SQLite file and the log; made when missing, kept by stop(). */
  folder: string;
  /** 0 or left out: a free one. */
  port?: number;
  /** The web UI's port; left out: no UI. */
  uiPort?: number;
  /** True: every commit reaches the disk before the server answers (SQLite synchronous FULL). Half as fast. */
  durable: boolean;
}

/** A real Temporal server as a child process on loopback, with the product's search attributes. */
export class TemporalServer {
  readonly #server: ChildServer;
  /** host:port of the frontend; the namespace is `default`. */
  readonly address: string;

  private constructor(server: ChildServer, address: string) {
    this.#server = server;
    this.address = address;
  }

  /**
   * Starts the server and answers when its namespace takes requests.
   * @throws TemporalProgramMissingError, StoreNotReadyError
   */
  static async start(options: TemporalServerOptions): Promise<TemporalServer> {
    const program = temporalProgram();
    mkdirSync(options.folder, { recursive: true });
    for (let attempt = 1; ; attempt += 1) {
      const port = options.port || (await freePortFor(program));
      try {
        return await TemporalServer.#startOnce(program, port, options);
      } catch (error) {
        const portGiven = options.port !== undefined && options.port !== 0;
        if (portGiven || attempt === START_ATTEMPTS || !(error instanceof StoreNotReadyError)) throw error;
      }
    }
  }

  static async #startOnce(program: string, port: number, options: TemporalServerOptions): Promise<TemporalServer> {
    const server = new ChildServer({
      name: 'Temporal',
      program,
      args: isOurs(program) ? devServerArgs(port, options) : cliArgs(port, options),
      logFile: join(options.folder, 'temporal.log'),
    });
    const address = `127.0.0.1:${port}`;
    try {
      await server.waitUntilReady(() => askForNamespace(address), START_MS);
    } catch (error) {
      await server.stop('SIGKILL');
      throw error;
    }
    return new TemporalServer(server, address);
  }

  get pid(): number {
    return this.#server.pid;
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    await this.#server.stop('SIGKILL');
  }
}

/** HOODCLOUD_TEMPORAL_BIN, which tools/bootstrap sets, else the `temporal` CLI on PATH. */
function temporalProgram(): string {
  const named = process.env.HOODCLOUD_TEMPORAL_BIN;
  if (named) return named;
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'temporal'));
  const found = onPath.find(isExecutable);
  if (found === undefined) throw new TemporalProgramMissingError();
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not in this folder of PATH: the next one is asked
  }
}

const isOurs = (program: string) => basename(program).startsWith('temporal-dev-server');

function devServerArgs(port: number, { folder, uiPort, durable }: TemporalServerOptions): string[] {
  return [
    ...['-db-filename', join(folder, 'temporal.db'), '-port', String(port), '-ui-port', String(uiPort ?? 0)],
    ...['-synchronous', durable ? '2' : '1', '-search-attributes', SEARCH_ATTRIBUTES.join(',')],
  ];
}

function cliArgs(port: number, { folder, uiPort, durable }: TemporalServerOptions): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...['--db-filename', join(folder, 'temporal.db'), '--sqlite-pragma', `synchronous=${durable ? 2 : 1}`],
    ...SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
  ];
}

async function freePortFor(program: string): Promise<number> {
  if (!isOurs(program)) return freePort();
  for (let attempt = 0; attempt < PORT_TRIES; attempt += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORT_SPAN);
    if (await allFree(INNER_PORTS.map((offset) => port + offset))) return port;
  }
  throw new StoreNotReadyError(`No eight free ports for ${dirname(program)} were found in ${PORT_TRIES} tries.`);
}

async function askForNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2000 });
  try {
    await connection.workflowService.describeNamespace({ namespace: NAMESPACE });
  } finally {
    await connection.close();
  }
}
