import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../agent-error.ts';
import { replaceFile } from '../../host/atomic-file.ts';
import type { ProcessIdentity } from '../../host/process-table.ts';

/** How the supervisor runs the node; written by the agent, read before each start of the node. */
export interface ServiceSpec {
  readonly command: readonly string[];
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly user: { readonly uid: number; readonly gid: number } | null;
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
  readonly restartDelayMs: number;
  readonly logMaxBytes: number;
}

/** What the agent, or its operator, wants; the generation tells orders apart. */
export interface DesiredState {
  readonly run: boolean;
  readonly generation: number;
}

/** What the supervisor did last. Of no worth after a reboot: the boot id tells. */
export interface SupervisorState {
  readonly bootId: string;
  readonly supervisor: ProcessIdentity;
  readonly child: ProcessIdentity | null;
  readonly phase: 'running' | 'stopping' | 'waiting_restart' | 'held' | 'stopped';
  /** Since the last deliberate start. */
  readonly restarts: number;
  /** The last order that it has taken note of. */
  readonly generation: number;
  /** How the node ended last, for people. */
  readonly lastExit: string | null;
}

/**
 * The files by which an agent and the supervisor of one component speak; they outlive both. Small ones, read and noted at
 * once: a node that is down waits for every turn through the thread pool.
 */
export class ServiceFiles {
  readonly folder: string;
  readonly holdPath: string;
  readonly logPath: string;
  readonly supervisorLogPath: string;

  constructor(folder: string) {
    this.folder = folder;
    this.holdPath = join(folder, 'hold');
    this.logPath = join(folder, 'node.log');
    this.supervisorLogPath = join(folder, 'supervisor.log');
  }

  async create(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
  }

  async writeSpec(spec: ServiceSpec): Promise<void> {
    await this.#replaceDurably('spec.json', spec);
  }

  /** Null before the agent has prepared the service. */
  readSpec(): ServiceSpec | null {
    return this.#read<ServiceSpec>('spec.json');
  }

  /** Null before the first order. */
  readDesired(): DesiredState | null {
    return this.#read<DesiredState>('desired.json');
  }

  /** On the disk when it resolves: what an operator stopped stays stopped through a reboot. */
  async writeDesired(desired: DesiredState): Promise<void> {
    await this.#replaceDurably('desired.json', desired);
  }

  /** Null before the first supervisor, and when a power cut left nothing readable: then no supervisor lives either. */
  readState(): SupervisorState | null {
    try {
      return this.#read<SupervisorState>('state.json');
    } catch (error) {
      if (error instanceof SyntaxError) return null;
      throw error;
    }
  }

  /** Whole for every reader, but not fsynced: a reboot makes it worthless anyway, and the node waits for it. */
  writeState(state: SupervisorState): void {
    const temp = join(this.folder, '.state.json.tmp');
    writeFileSync(temp, `${JSON.stringify(state)}\n`, { mode: 0o600 });
    renameSync(temp, join(this.folder, 'state.json'));
  }

  async #replaceDurably(name: string, content: unknown): Promise<void> {
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    await replaceFile(join(this.folder, name), `${JSON.stringify(content)}\n`, { mode: 0o600, ...owner });
  }

  #read<T>(name: string): T | null {
    try {
      return JSON.parse(readFileSync(join(this.folder, name), 'utf8')) as T;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      throw error;
    }
  }
}
