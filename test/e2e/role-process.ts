import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../packages/controlplane/src/bin/hoodcloud.ts', import.meta.url));

export type RoleName = 'api' | 'gateway' | 'worker' | 'reconciler';

/** One role of the control plane in a process of its own, as an operator would run it. */
export class RoleProcess {
  /** Where it serves agents or people; empty for a role that doesn't. */
  readonly address: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: string) {
    this.#child = child;
    this.address = address;
  }

  /**
   * Starts a role and resolves when it says that it is up.
   * @param environment its settings; nothing of this process's own but PATH and HOME gets through
   * @param logFile its log is appended there
   * @throws Error when it ends before it is up
   */
  static async start(role: RoleName, environment: NodeJS.ProcessEnv, logFile: string): Promise<RoleProcess> {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, role], {
      env: { PATH, HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const log = createWriteStream(logFile, { flags: 'a' });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once('exit', () => log.end());
    return new RoleProcess(child, await addressOnceUp(role, child, logFile));
  }

  /** As a service manager ends it; resolves when it has given back what it held. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** As a crash ends it. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill(signal);
    await once(this.#child, 'exit');
  }
}

function addressOnceUp(role: RoleName, child: ChildProcess, logFile: string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${role} ended with ${code} before it was up: see ${logFile}`)));
    if (child.stdout === null) return;
    createInterface(child.stdout).on('line', (line) => {
      if (line.includes(`${role} is up`)) resolve(String(JSON.parse(line).address));
    });
  });
}
