import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

const POLL_MS = 25;
const LOG_TAIL_LINES = 15;

/** A store that was started as a child process ended or stayed silent; the message carries the end of its log. */
export class StoreNotReadyError extends Error {
  readonly code = 'STORE_NOT_READY';
}

export interface ChildServerOptions {
  /** What people call it, e.g. "Postgres". */
  name: string;
  program: string;
  args: readonly string[];
  /** Asks it to end in order, SIGTERM by default. It gets this signal too when we are killed, where the system can do that (Linux). */
  endSignal?: 'SIGINT' | 'SIGTERM';
  /** Both output streams are appended here. */
  logFile: string;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
}

/** A server program as our child: started, watched until ready, ended by a signal of its own liking or by SIGKILL. */
export class ChildServer {
  readonly #name: string;
  readonly #logFile: string;
  readonly #endSignal: NodeJS.Signals;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #running = true;
  #spawnError: Error | undefined;

  constructor({ name, program, args, endSignal = 'SIGTERM', logFile, ...spawnOptions }: ChildServerOptions) {
    const log = openSync(logFile, 'a');
    this.#name = name;
    this.#logFile = logFile;
    this.#endSignal = endSignal;
    // A session of its own: Ctrl-C reaches everything in ours at once, and who uses the server must end before it.
    const [command, ...words] = diesWithUs([program, ...args], endSignal);
    this.#child = spawn(command, words, { ...spawnOptions, stdio: ['ignore', log, log], detached: true });
    closeSync(log); // the child has its own copy
    this.#ended = new Promise((done) => {
      const end = () => {
        this.#running = false;
        done();
      };
      this.#child.once('exit', end);
      this.#child.once('error', (error) => {
        this.#spawnError = error;
        end();
      });
    });
    this.#child.unref(); // a server we forgot to stop must not keep the caller's program alive
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new StoreNotReadyError(`${this.#name} could not be started.`);
    return this.#child.pid;
  }

  /**
   * Waits until `probe` no longer throws.
   * @throws StoreNotReadyError when the server ends first or `timeoutMs` pass
   */
  async waitUntilReady(probe: () => Promise<void>, timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      if (!this.#running) throw this.#notReady('ended while starting');
      const failure = await probe().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined) return;
      if (Date.now() > deadline) throw this.#notReady(`did not answer within ${timeoutMs} ms`, failure);
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    }
  }

  /** Asks by `signal` (the server's own by default), waits, and ends it by force when it takes longer than `graceMs`. */
  async stop(signal: NodeJS.Signals = this.#endSignal, graceMs = 10_000): Promise<void> {
    if (!this.#running) return;
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), graceMs);
    await this.#ended;
    clearTimeout(timer);
  }

  #notReady(what: string, failure?: unknown): StoreNotReadyError {
    const tail = readFileSync(this.#logFile, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
    const why = this.#spawnError ?? failure;
    const detail = why instanceof Error ? ` (${why.message})` : '';
    return new StoreNotReadyError(`${this.#name} ${what}${detail}. The end of ${this.#logFile}:\n${tail}`, {
      cause: why,
    });
  }
}

const SETPRIV = '/usr/bin/setpriv';

/** Wraps a command so that the kernel signals it when its parent is gone; setpriv becomes the program, the pid stays. */
function diesWithUs(command: [string, ...string[]], signal: string): [string, ...string[]] {
  if (process.platform !== 'linux' || !existsSync(SETPRIV)) return command;
  return [SETPRIV, '--pdeathsig', signal.replace('SIG', ''), '--', ...command];
}

/** A TCP port on loopback that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('one port was asked for');
  return port;
}

/** Ports, each another one, that nothing listens on at any address of this machine. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  try {
    return await Promise.all(servers.map(listenedPort));
  } finally {
    await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  }
}

async function listenedPort(server: Server): Promise<number> {
  // at every address: one that is taken at a lab's address alone would be offered again
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '0.0.0.0', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP listener has an address');
  return address.port;
}

/** Whether every one of these loopback ports can be listened on right now. */
export async function allFree(ports: readonly number[]): Promise<boolean> {
  const results = await Promise.all(ports.map(isFree));
  return results.every(Boolean);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
