import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { bootId, isAlive, type ProcessIdentity, readProcess } from '../../host/process-table.ts';
import { type DesiredState, ServiceFiles, type ServiceSpec, type SupervisorState } from './service-files.ts';
import { markDeliberateStart, rotateLog } from './service-log.ts';
import { processesOfService, serviceMark } from './service-processes.ts';

/** How often desired state, an adopted node and the size of the log are looked at without being told to. */
const TICK_MS = 500;
/** Only a parent learns how its child ended. */
const UNSEEN_EXIT = 'an exit that its supervisor did not see';

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
  /** The node is our own child: its end comes as an event. */
  #isParent = false;
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
    const found = files.readState();
    const earlier = found?.bootId === boot ? found : null;
    const child = earlier?.child && (await isAlive(earlier.child)) ? earlier.child : null;
    const endedAlone = earlier?.child != null && child === null;
    await new Promise<void>((resolve) => {
      const supervisor = new Supervisor(
        files,
        {
          bootId: boot,
          supervisor: { pid: own.pid, startedAt: own.startedAt },
          child,
          phase: child === null ? 'stopped' : 'running',
          restarts: (earlier?.restarts ?? 0) + (endedAlone ? 1 : 0),
          generation: earlier?.generation ?? -1,
          lastExit: endedAlone ? UNSEEN_EXIT : (earlier?.lastExit ?? null),
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
    const spec = this.#files.readSpec();
    if (spec === null) throw new Error(`${this.#files.folder} holds no spec.json`);
    const desired = this.#files.readDesired() ?? { run: false, generation: 0 };
    const processes = await this.#processes();
    if (desired.run && !this.#ending) await this.#keepRunning(spec, desired, processes);
    else await this.#keepStopped(spec, desired, processes);
    await rotateLog(this.#files.logPath, spec.logMaxBytes);
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
      this.#note({
        generation: desired.generation,
        restarts: 0,
        ...(processes.length === 0 && { lastExit: null }),
      });
      if (processes.length === 0) markDeliberateStart(this.#files.logPath);
    }
    const { child } = this.#state;
    if (child !== null && processes.includes(child)) {
      this.#note({ phase: 'running' });
    } else if (child !== null && !this.#isParent) {
      this.#noteExit(spec, UNSEEN_EXIT);
    } else if (processes.length > 0) {
      this.#adoptOrSweep(spec, processes);
    } else if (existsSync(this.#files.holdPath)) {
      this.#note({ child: null, phase: 'held' });
    } else if (Date.now() >= this.#restartAtMs) {
      await this.#spawn(spec);
    } else {
      this.#note({ child: null, phase: 'waiting_restart' });
    }
  }

  /** Without a child of its own they are what a predecessor started and could not note: the oldest one is the node. */
  #adoptOrSweep(spec: ServiceSpec, processes: readonly ProcessIdentity[]): void {
    const [oldest] = processes.toSorted((a, b) => a.startedAt - b.startedAt);
    if (this.#state.child === null && oldest !== undefined && !this.#isParent) {
      this.#note({ child: oldest, phase: 'running' });
      return;
    }
    this.#sweep(spec, processes);
    this.#note({ phase: 'stopping' });
  }

  async #keepStopped(spec: ServiceSpec, desired: DesiredState, processes: readonly ProcessIdentity[]): Promise<void> {
    if (processes.length > 0) {
      const { child } = this.#state;
      const all = await processesOfService(this.#files.folder);
      const order = `order ${desired.generation}, ending ${this.#ending}`;
      if (child !== null && processes.includes(child)) this.#signalOnce(order, spec, all);
      else this.#sweep(spec, all);
      this.#note({ generation: desired.generation, phase: 'stopping' });
      return;
    }
    this.#note({ generation: desired.generation, child: null, phase: 'stopped' });
    if (this.#ending) this.#ended();
  }

  /** Processes that their main one left behind: nobody else will ask them to end. */
  #sweep(spec: ServiceSpec, leftovers: readonly ProcessIdentity[]): void {
    this.#signalOnce(`leftovers ${leftovers.map(({ pid }) => pid).join()}`, spec, leftovers);
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
    this.#isParent = true;
    const ended = (how: string) => {
      this.#turn = this.#turn.then(() => this.#noteExit(spec, how)).catch(this.#onError);
      this.#lookSoon();
    };
    child.once('exit', (code, signal) => ended(signal === null ? `exit status ${code}` : `signal ${signal}`));
    child.once('error', (error) => ended(`it could not be started: ${error.message}`));
    const entry = child.pid === undefined ? null : await readProcess(child.pid);
    if (entry !== null) this.#note({ child: { pid: entry.pid, startedAt: entry.startedAt }, phase: 'running' });
  }

  /** The node has ended; unless somebody asked for it, it comes back after the delay. */
  #noteExit(spec: ServiceSpec, lastExit: string): void {
    const desired = this.#files.readDesired();
    this.#isParent = true; // of the next one; the one that was taken over is history
    this.#restartAtMs = Date.now() + spec.restartDelayMs;
    if (desired?.run !== true || this.#ending) {
      this.#note({ lastExit });
      return;
    }
    this.#note({ lastExit, phase: 'waiting_restart', restarts: this.#state.restarts + 1 });
    setTimeout(() => this.#lookSoon(), spec.restartDelayMs + 1);
  }

  #note(change: Partial<SupervisorState>): void {
    const next = { ...this.#state, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.#state) && this.#written) return;
    this.#state = next;
    this.#files.writeState(next);
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
