import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

const STOP_MS = 60_000;
const LOG_LINES = 25;

/** A program of the product as a child process: started, killed and started again as a test wants. Its log is kept. */
export class Child {
  readonly name: string;
  readonly #command: readonly [string, ...string[]];
  readonly #env: NodeJS.ProcessEnv;
  readonly #logFile: string;
  #process: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(name: string, command: readonly [string, ...string[]], env: NodeJS.ProcessEnv, logFile: string) {
    this.name = name;
    this.#command = command;
    this.#env = env;
    this.#logFile = logFile;
  }

  get running(): boolean {
    return this.#process !== null;
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error(`${this.name} does not run`);
    return pid;
  }

  /** All that it ever wrote. */
  log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  logTail(): string {
    return this.log().trimEnd().split('\n').slice(-LOG_LINES).join('\n');
  }

  start(): void {
    if (this.#process) throw new Error(`${this.name} runs already`);
    const log = openSync(this.#logFile, 'a');
    const [program, ...args] = this.#command;
    const child = spawn(program, args, { env: this.#env, stdio: ['ignore', log, log] });
    closeSync(log); // the child has its own copy
    this.#process = child;
    this.#ended = new Promise((resolve) => {
      const end = () => {
        if (this.#process === child) this.#process = null;
        resolve();
      };
      child.once('exit', end);
      child.once('error', end);
    });
  }

  /** As a crash: nothing is said, nothing is given back. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#ended;
  }

  /** In order; by force when it takes longer than a minute. */
  async stop(): Promise<void> {
    this.#process?.kill('SIGTERM');
    const timer = setTimeout(() => this.#process?.kill('SIGKILL'), STOP_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}
