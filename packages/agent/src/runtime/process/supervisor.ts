import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { bootId, isAlive, type ProcessIdentity, readProcess } from '../../host/process-table.ts';
import { type DesiredState, ServiceFiles, type ServiceSpec, type SupervisorState } from './service-files.ts';
import { markDeliberateStart, rotateLog } from './service-log.ts';
import { processesOfService, serviceMark } from './service-processes.ts';

/** How often desired state, an adopted node and the size of the log are looked at without being told to. */
const TICK_MS = 500;

/**
 * Keeps one node running as `Restart=always` would, in a process of its own that outlives the agent (A16). It takes its
 * orders from `desired.json` (SIGHUP says that there is a new one), obeys the hold file (A18a), never kills, and never
 * starts a second instance: first every process of the earlier one must be gone (A19).
 */
export class Supervisor {
  readonly #files: ServiceFiles;
  #state: SupervisorState;
  #restartAtMs = 0;
  /** What the last stop signal was for: given once, since what a node starts while it closes must not be hit. */
  #signalledFor = '';
  #ending = false;
  #written = false;
  #turn: Promise<void> = Promise.resolve();
  readonly #ended: () => void;
  readonly #onError: (error: unknown) => void;

  private constructor(
    files: ServiceFiles,
    state: SupervisorState,
    ended: () => void,
    onError: (error: unknown) => void,
  ) {
    this.#files = files;
    this.#state = state;
    this.#ended = ended;
    this.#onError = onError;
  }

  /** Takes over from an earlier supervisor, its living node included. Resolves when it has been told to end. */
  static async run(folder: string, onError: (error: unknown) => void): Promise<void> {
    const files = new ServiceFiles(folder);
    const own = await readProcess(process.pid);
    if (own === null) throw new Error('/proc does not show this process');
    const boot = await bootId();
    const found = await files.readState();
    const earlier = found?.bootId === boot ? found : null;
    await new Promise<void>((resolve) => {
      const supervisor = new Supervisor(
        files,
        {
          bootId: boot,
          supervisor: { pid: own.pid, startedAt: own.startedAt },
          child: earlier?.child ?? null,
          phase: earlier?.phase ?? 'stopped',
          restarts: earlier?.restarts ?? 0,
          generation: earlier?.generation ?? -1,
          lastExit: earlier?.lastExit ?? null,
        },
        resolve,
        onError,
      );
      process.on('SIGHUP', () => supervisor.#lookSoon());
      process.on('SIGTERM', () => supervisor.#endSoon());
      setInterval(() => supervisor.#lookSoon(), TICK_MS);
      supervisor.#lookSoon();
    });
  }

  /** The machine goes down, or a test ends: stop the node, then end; the wish that it runs stays. */
  #endSoon(): void {
    this.#ending = true;
    this.#lookSoon();
  }

  #lookSoon(): void {
    this.#turn = this.#turn.then(() => this.#reconcile()).catch(this.#onError);
  }

  /** Compares what is wanted with what is there, and takes one step towards it. */
  async #reconcile(): Promise<void> {
    const spec = await this.#files.readSpec();
    const desired = (await this.#files.readDesired()) ?? { run: false, generation: 0 };
    await rotateLog(this.#files.logPath, spec.logMaxBytes);
    const processes = await this.#processes();
    if (desired.run && !this.#ending) await this.#keepRunning(spec, desired, processes);
    else await this.#keepStopped(spec, desired, processes);
  }

  /** The main process while it lives is enough to know; only its end makes us search. */
  async #processes(): Promise<ProcessIdentity[]> {
    const { child } = this.#state;
    return child !== null && (await isAlive(child)) ? [child] : processesOfService(this.#files.folder);
  }

  async #keepRunning(spec: ServiceSpec, desired: DesiredState, processes: readonly ProcessIdentity[]): Promise<void> {
    const isNew = desired.generation !== this.#state.generation;
    if (isNew) {
      this.#restartAtMs = 0;
      await this.#note({
        generation: desired.generation,
        restarts: 0,
        ...(processes.length === 0 && { lastExit: null }),
      });
      if (processes.length === 0) markDeliberateStart(this.#files.logPath);
    }
    const [first] = processes;
    const { child } = this.#state;
    if (first !== undefined && child !== null && processes.includes(child)) {
      await this.#note({ phase: 'running' });
    } else if (first !== undefined) {
      await this.#adoptOrSweep(spec, processes);
    } else if (existsSync(this.#files.holdPath)) {
      await this.#note({ child: null, phase: 'held' });
    } else if (Date.now() >= this.#restartAtMs) {
      await this.#spawn(spec);
    } else {
      await this.#note({ child: null, phase: 'waiting_restart' });
    }
  }

  /** Our predecessor died before it noted its child: the oldest one is the node. Otherwise they are leftovers of one. */
  async #adoptOrSweep(spec: ServiceSpec, processes: readonly ProcessIdentity[]): Promise<void> {
    const [oldest] = processes.toSorted((a, b) => a.startedAt - b.startedAt);
    if (this.#state.child === null && oldest !== undefined && this.#state.phase !== 'waiting_restart') {
      await this.#note({ child: oldest, phase: 'running' });
      return;
    }
    this.#signalOnce(`leftovers of ${this.#state.child?.pid}`, spec, processes);
    await this.#note({ phase: 'stopping' });
  }

  async #keepStopped(spec: ServiceSpec, desired: DesiredState, processes: readonly ProcessIdentity[]): Promise<void> {
    if (processes.length > 0) {
      const all = await processesOfService(this.#files.folder);
      this.#signalOnce(`order ${desired.generation}, ending ${this.#ending}`, spec, all);
      await this.#note({ generation: desired.generation, phase: 'stopping' });
      return;
    }
    await this.#note({ generation: desired.generation, child: null, phase: 'stopped' });
    if (this.#ending) this.#ended();
  }

  #signalOnce(occasion: string, spec: ServiceSpec, processes: readonly ProcessIdentity[]): void {
    if (this.#signalledFor === occasion) return;
    this.#signalledFor = occasion;
    for (const { pid } of processes) {
      try {
        process.kill(pid, spec.stopSignal);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error; // it has just ended
      }
    }
  }

  async #spawn(spec: ServiceSpec): Promise<void> {
    const [program = '', ...args] = spec.command;
    const log = openSync(this.#files.logPath, 'a', 0o640);
    try {
      const child = spawn(program, args, {
        cwd: spec.cwd ?? this.#files.folder,
        env: { ...inherited(), ...spec.env, ...serviceMark(this.#files.folder) },
        stdio: ['ignore', log, log],
        detached: true, // signals of a terminal are not for it, and it outlives us
        ...(spec.user ?? {}),
      });
      await this.#watch(child, spec);
    } finally {
      closeSync(log);
    }
  }

  async #watch(child: ChildProcess, spec: ServiceSpec): Promise<void> {
    child.once('exit', (code, signal) =>
      this.#onExit(spec, signal === null ? `exit status ${code}` : `signal ${signal}`),
    );
    child.once('error', (error) => this.#onExit(spec, `it could not be started: ${error.message}`));
    const entry = child.pid === undefined ? null : await readProcess(child.pid);
    if (entry !== null) await this.#note({ child: { pid: entry.pid, startedAt: entry.startedAt }, phase: 'running' });
  }

  #onExit(spec: ServiceSpec, lastExit: string): void {
    this.#turn = this.#turn
      .then(async () => {
        const desired = await this.#files.readDesired();
        const unasked = desired?.run === true && !this.#ending;
        this.#restartAtMs = Date.now() + spec.restartDelayMs;
        const phase = unasked ? 'waiting_restart' : this.#state.phase;
        await this.#note({ lastExit, phase, restarts: this.#state.restarts + (unasked ? 1 : 0) });
        if (unasked) setTimeout(() => this.#lookSoon(), spec.restartDelayMs + 1);
      })
      .catch(this.#onError);
    this.#lookSoon();
  }

  async #note(change: Partial<SupervisorState>): Promise<void> {
    const next = { ...this.#state, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.#state) && this.#written) return;
    this.#state = next;
    await this.#files.writeState(next);
    this.#written = true;
  }
}

/** A clean environment, as a service manager gives it, not that of whoever started the agent. */
function inherited(): Record<string, string> {
  const names = ['PATH', 'HOME', 'LANG', 'TZ'];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
