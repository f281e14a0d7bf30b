import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChildServer } from '@hoodcloud/controlplane/dev/child-server';

const PROGRAM = fileURLToPath(new URL('../../packages/controlplane/src/bin/hoodcloud.ts', import.meta.url));
const READY_MS = 120_000;

/** A TypeScript program as a process of its own; `log` is everything that it printed. */
export class TypeScriptProcess {
  readonly #server: ChildServer;
  readonly #logFile: string;

  constructor(
    name: string,
    file: string,
    args: readonly string[],
    options: { folder: string; env?: NodeJS.ProcessEnv },
  ) {
    this.#logFile = join(options.folder, `${name}.log`);
    this.#server = new ChildServer({
      name,
      program: process.execPath,
      args: ['--import', 'tsx', file, ...args],
      logFile: this.#logFile,
      ...(options.env && { env: options.env }),
    });
  }

  /** Waits until it has printed `text`. */
  async printed(text: string): Promise<this> {
    await this.#server.waitUntilReady(async () => {
      if (!(await this.log()).includes(text)) throw new Error(`it has not printed "${text}"`);
    }, READY_MS);
    return this;
  }

  log(): Promise<string> {
    return readFile(this.#logFile, 'utf8');
  }

  stop(): Promise<void> {
    return this.#server.stop('SIGTERM');
  }

  kill(): Promise<void> {
    return this.#server.stop('SIGKILL');
  }
}

/** One role of the control plane as it is installed: `hoodcloud ROLE`. @param name one for each start, since logs are kept */
export function roleProcess(
  name: string,
  role: 'api' | 'reconciler',
  options: { folder: string; env: NodeJS.ProcessEnv },
): Promise<TypeScriptProcess> {
  return new TypeScriptProcess(name, PROGRAM, [role], options).printed(`${role} is up`);
}
