import { accessSync, constants, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { ChildServer, freePort, StoreNotReadyError } from './child-server.ts';

const START_MS = 30_000;
const BIND_ATTEMPTS = 5;
/** Debian keeps it where a user's PATH doesn't lead. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];

export interface NatsServerOptions {
  /** Holds what streams keep and the log; made when missing, kept by stop(). */
  folder: string;
  /** 0 or left out: a free one. */
  port?: number;
}

/** The program `nats-server` of this machine; null when it has none. */
export function natsProgram(): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...MORE_FOLDERS];
  return folders.map((folder) => join(folder, 'nats-server')).find(isExecutable) ?? null;
}

/**
 * A real NATS server with JetStream as a child process on loopback. One object is one store: start() again after kill() or
 * stop() keeps port and messages.
 */
export class NatsServer {
  readonly #program: string;
  readonly #folder: string;
  #port: number;
  #server: ChildServer | undefined;

  private constructor(program: string, { folder, port = 0 }: NatsServerOptions) {
    this.#program = program;
    this.#folder = folder;
    this.#port = port;
  }

  /** @throws StoreNotReadyError when there is no such program here, or it doesn't come up */
  static async start(options: NatsServerOptions): Promise<NatsServer> {
    const program = natsProgram();
    if (program === null) {
      throw new StoreNotReadyError('There is no nats-server on this machine: apt-get install nats-server.');
    }
    mkdirSync(options.folder, { recursive: true });
    const server = new NatsServer(program, options);
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const chosen = this.#port;
    for (let attempt = 1; ; attempt += 1) {
      this.#port = chosen || (await freePort());
      try {
        return await this.#startOnce();
      } catch (error) {
        if (chosen || attempt === BIND_ATTEMPTS || !(error instanceof StoreNotReadyError)) throw error;
      }
    }
  }

  async #startOnce(): Promise<void> {
    const port = this.#port;
    const server = new ChildServer({
      name: 'NATS',
      program: this.#program,
      args: ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', this.#folder],
      logFile: join(this.#folder, 'nats.log'),
    });
    try {
      await server.waitUntilReady(() => greeted(port), START_MS);
    } catch (error) {
      await server.stop('SIGKILL');
      throw error;
    }
    this.#server = server;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    await this.#server?.stop('SIGKILL');
  }
}

/** A NATS server speaks first. */
function greeted(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(1000, () => socket.destroy(new Error('no greeting')));
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      if (data.toString().startsWith('INFO ')) resolve();
      else reject(new Error('something else listens there'));
    });
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not in this folder: the next one is asked
  }
}
