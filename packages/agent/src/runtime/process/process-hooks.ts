import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../../agent-error.ts';
import { plainEnvironment } from '../../host/program-call.ts';
import { type CommandEnd, runCommand } from '../../host/run-command.ts';
import type { HookCall, HookRunner } from '../hook-contract.ts';
import { type HookPlaces, requireAllowed, withPlaces } from '../hook-runner.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import { systemUser } from '../system-user.ts';

/** In the environment of a step and of all that it starts: by it they are found again. */
const MARK = 'HOODCLOUD_HOOK';
const END_MS = 5_000;
const POLL_MS = 20;

export interface ProcessHookSettings extends HookPlaces {
  readonly binaryName: string;
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string | null;
}

/** Runs steps of the vendor as the supervisor runs the node: its user, folder and environment. There is no sandbox to share. */
export class ProcessHooks implements HookRunner {
  readonly #settings: ProcessHookSettings;

  constructor(settings: ProcessHookSettings) {
    this.#settings = settings;
  }

  check(command: readonly string[]): void {
    requireAllowed(command, this.#settings);
  }

  async run({ name, command, timeoutMs }: HookCall, signal: AbortSignal): Promise<CommandEnd> {
    const { cwd, env, user, dataDir } = this.#settings;
    const [program = '', ...args] = withPlaces(command, this.#settings);
    const account = user === null ? null : systemUser(user);
    const end = await runCommand(
      {
        program,
        args,
        env: { ...plainEnvironment(), ...env, [MARK]: this.#mark(name) },
        cwd: cwd ?? dataDir,
        ...(account && { uid: account.uid, gid: account.gid }),
        timeoutMs,
      },
      signal,
    );
    await this.end(name); // what left its process group, in time or not
    return end;
  }

  async end(name: string): Promise<void> {
    const patience = AbortSignal.timeout(END_MS);
    for (;;) {
      const left = processesMarked(`${MARK}=${this.#mark(name)}`);
      if (left.length === 0) return;
      for (const pid of left) kill(pid);
      if (patience.aborted) throw new RuntimeError('hook_still_running', `process ${left.join(', ')} can't be ended`);
      await sleep(POLL_MS);
    }
  }

  #mark(name: string): string {
    return `${this.#settings.binaryName}:${name}`;
  }
}

/** A process that has ended shows no environment any more. */
function processesMarked(mark: string): number[] {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return pids.filter((pid) => environmentOf(pid).split('\0').includes(mark)).map(Number);
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return '';
    throw error;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error; // it has ended meanwhile
  }
}
