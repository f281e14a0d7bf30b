import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { removeDurably, replaceFile, syncFolder } from '../../host/atomic-file.ts';
import type { FileHashes } from '../../host/file-hash.ts';
import { ageMs, bootId, isAlive, type ProcessIdentity, runningChecksumOf } from '../../host/process-table.ts';
import { instancesOutside, type NodeFiles, requireNoInstanceOutside } from '../data-dir-fence.ts';
import { RuntimeError, type RuntimeStatus, type StartOptions } from '../runtime-adapter.ts';
import { systemUser } from '../system-user.ts';
import { tellingLine } from '../telling-line.ts';
import { ServiceFiles, type ServiceSpec, type SupervisorState } from './service-files.ts';
import { tailOfLog } from './service-log.ts';
import { processesOfService } from './service-processes.ts';
import { stateOf } from './service-state.ts';

/** What is waited for is looked at again after a hundredth of the time waited so far: looking makes no wait much longer. */
const SHARE_OF_WAIT = 0.01;
const LEAST_POLL_MS = 1;
const MOST_POLL_MS = 50;
/** Milliseconds within which a new supervisor must show itself. */
const SUPERVISOR_START_MS = 20_000;

export interface ProcessServiceSettings {
  /** Folder of this component in the agent's state. */
  readonly folder: string;
  readonly name: string;
  /** Whoever runs this program and writes in this folder beside the supervisor is another instance (A19). */
  readonly nodeFiles: NodeFiles;
  readonly spec: Omit<ServiceSpec, 'user'> & { readonly user: string | null };
  readonly autostart: boolean;
  /** Program and arguments that start a supervisor; its folder is added. */
  readonly supervisorCommand: readonly [program: string, ...args: string[]];
  readonly hashes: FileHashes;
}

/** The agent's side of a supervised node: gives orders by file and watches what /proc shows. */
export class ProcessService {
  readonly #settings: ProcessServiceSettings;
  readonly #files: ServiceFiles;

  constructor(settings: ProcessServiceSettings) {
    this.#settings = settings;
    this.#files = new ServiceFiles(settings.folder);
  }

  get name(): string {
    return this.#settings.name;
  }

  async prepare(): Promise<void> {
    await this.#writeSpec();
    const desired = this.#files.readDesired();
    if (desired === null) await this.#files.writeDesired({ run: this.#settings.autostart, generation: 0 });
    if (desired?.run ?? this.#settings.autostart) await this.#ensureSupervisor();
  }

  async leave(): Promise<void> {
    await this.release();
  }

  /** @param installedChecksum of the file, and where its links lead: what the main process is compared with */
  async status(installedChecksum: string | null, installPath: string): Promise<RuntimeStatus> {
    const [desired, state, processes] = await Promise.all([
      this.#files.readDesired(),
      this.#currentState(),
      processesOfService(this.#files.folder),
    ]);
    const main =
      processes.find(({ pid, startedAt }) => pid === state?.child?.pid && startedAt === state.child.startedAt) ?? null;
    const pids = processes.map(({ pid }) => pid).sort((a, b) => Number(b === main?.pid) - Number(a === main?.pid));
    const wantedRunning = desired?.run ?? false;
    return {
      state: stateOf(wantedRunning, main, processes),
      wantedRunning,
      held: existsSync(this.#files.holdPath),
      mainPid: main?.pid ?? null,
      mainPidStartedAt: main?.startedAt ?? null,
      restarts: state?.restarts ?? 0,
      runningChecksum: await runningChecksumOf(pids, installPath, this.#settings.hashes),
      installedChecksum,
    };
  }

  async start({ signal, stableMs, toleratedRestarts = 0 }: StartOptions): Promise<void> {
    const wanted = this.#files.readDesired()?.run === true;
    const processes = (await this.#isKnownStopped()) ? [] : await processesOfService(this.#files.folder);
    const isUp = wanted && processes.length > 0;
    const restarts = isUp ? ((await this.#currentState())?.restarts ?? 0) : 0;
    if (!isUp) await this.#requireFence(processes);
    if (isUp) {
      await this.release();
      await this.#ensureSupervisor();
    } else {
      await this.#launch();
    }
    const generation = this.#files.readDesired()?.generation ?? 0;
    await this.#watchUntilStable(generation, restarts + toleratedRestarts, stableMs, signal);
  }

  /**
   * The order is on the disk while the hold still keeps the node down. What starts it is the removal of the hold, which
   * the disk may learn of beside the start: after a power cut the node is held again, and its attempt still open.
   */
  async #launch(): Promise<void> {
    await this.#writeSpec();
    await this.#order(true);
    await rm(this.#files.holdPath, { force: true });
    await this.#wakeSupervisor();
    await syncFolder(this.#files.folder);
  }

  async stop(signal: AbortSignal): Promise<void> {
    if (this.#files.readDesired()?.run === true) {
      await this.#order(false);
      await this.#wakeSupervisor();
    }
    await this.#until(
      signal,
      () => this.#isStopped(),
      () =>
        new RuntimeError(
          'stop_overrun',
          `${this.name} is still stopping after its budget; nothing kills it: it ends by itself, or give it a larger stop budget`,
        ),
    );
  }

  /** Nothing lives, and the supervisor, if there is one, knows that nothing should. */
  async #isStopped(): Promise<boolean> {
    if ((await this.#currentState()) !== null) return this.#isKnownStopped();
    if ((await processesOfService(this.#files.folder)).length === 0) return true;
    await this.#ensureSupervisor(); // somebody killed it: a new one goes on
    return false;
  }

  /**
   * A living supervisor has seen every process of the service gone after the last order, and starts none without looking
   * again (A19): who relies on it spares the node's downtime a search of /proc.
   */
  async #isKnownStopped(): Promise<boolean> {
    const state = await this.#currentState();
    const { run, generation } = this.#files.readDesired() ?? { run: false, generation: 0 };
    return !run && state?.phase === 'stopped' && state.generation >= generation;
  }

  async waitUntilGone(signal: AbortSignal): Promise<void> {
    await this.#until(
      signal,
      async () => (await processesOfService(this.#files.folder)).length === 0,
      () => new RuntimeError('stop_overrun', `${this.name} is still stopping`),
    );
  }

  async hold(): Promise<void> {
    await replaceFile(this.#files.holdPath, 'this node is being changed by hoodcloud-agent\n');
  }

  async release(): Promise<void> {
    if (existsSync(this.#files.holdPath)) await removeDurably(this.#files.holdPath);
  }

  logTail(maxLines: number): Promise<string[]> {
    return tailOfLog(this.#files.logPath, maxLines);
  }

  /** Ends the supervisor too, its node first; for the end of a demonstration or a test. */
  async shutDown(signal: AbortSignal): Promise<void> {
    const state = await this.#currentState();
    if (state === null) return;
    process.kill(state.supervisor.pid, 'SIGTERM');
    await this.#until(
      signal,
      async () => !(await isAlive(state.supervisor)),
      () => new RuntimeError('stop_overrun', `the supervisor of ${this.name} still waits for its node to stop`),
    );
  }

  /** What would refuse the start, asked before the stop (A10). */
  async requireReady(): Promise<void> {
    if (this.#files.readDesired()?.run !== true) return; // of a node that stays stopped nothing is started
    await this.#requireNoneOutside();
  }

  /** Only when there is one at all it matters whose it is: what is wanted may come up at any moment, as the service's own. */
  async #requireNoneOutside(): Promise<void> {
    const { nodeFiles } = this.#settings;
    if ((await instancesOutside(nodeFiles, [])).length === 0) return;
    await requireNoInstanceOutside(this.name, nodeFiles, await processesOfService(this.#files.folder));
  }

  /** No process of an earlier instance lives, and nobody will bring one back (A19). */
  async #requireFence([earlier]: readonly ProcessIdentity[]): Promise<void> {
    if (earlier === undefined) return this.#requireNoneOutside();
    throw new RuntimeError(
      'fence_violated',
      `${this.name} can't be started: process ${earlier.pid} of its earlier instance still lives, and two would sign twice; wait until it has ended`,
    );
  }

  async #watchUntilStable(
    generation: number,
    mostRestarts: number,
    stableMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    let last: SupervisorState | null = null;
    await this.#until(
      signal,
      async () => {
        const state = await this.#currentState();
        if (state === null || state.generation !== generation) return false;
        last = state;
        if (state.restarts > mostRestarts) throw await this.#startFailed(`it ended with ${state.lastExit}`);
        if (state.child === null || state.phase !== 'running' || !(await isAlive(state.child))) return false;
        return (await ageMs(state.child)) >= stableMs;
      },
      () => this.#startFailedNow(last),
      MOST_POLL_MS, // nothing hurries any more, and a node that comes up needs the processor
    );
  }

  #startFailedNow(last: SupervisorState | null): RuntimeError {
    const seen =
      last === null ? 'its supervisor did not answer' : `it is ${last.phase}, last exit: ${last.lastExit ?? 'none'}`;
    return new RuntimeError('start_failed', `${this.name} did not become stable in time: ${seen}`);
  }

  async #startFailed(why: string): Promise<RuntimeError> {
    const line = tellingLine(await this.logTail(200)); // a panic of Go is followed by a page of stack trace
    const said = line === undefined ? '' : `; it said: ${line}`;
    return new RuntimeError('start_failed', `${this.name} did not stay up: ${why}${said}`);
  }

  async #order(run: boolean): Promise<void> {
    const { generation } = this.#files.readDesired() ?? { generation: 0 };
    await this.#files.writeDesired({ run, generation: generation + 1 });
    await this.#ensureSupervisor();
  }

  async #wakeSupervisor(): Promise<void> {
    const state = await this.#currentState();
    if (state !== null) process.kill(state.supervisor.pid, 'SIGHUP');
  }

  async #writeSpec(): Promise<void> {
    await this.#files.create();
    const { spec } = this.#settings;
    const wanted = { ...spec, user: spec.user === null ? null : idsOf(spec.user) };
    if (!isDeepStrictEqual(wanted, this.#files.readSpec())) await this.#files.writeSpec(wanted);
  }

  /** Null when no supervisor lives; what a dead one wrote is history. */
  async #currentState(): Promise<SupervisorState | null> {
    const state = this.#files.readState();
    if (state === null || state.bootId !== (await bootId())) return null;
    return (await isAlive(state.supervisor)) ? state : null;
  }

  async #ensureSupervisor(): Promise<void> {
    if ((await this.#currentState()) !== null) return;
    const [program, ...args] = this.#settings.supervisorCommand;
    const log = openSync(this.#files.supervisorLogPath, 'a', 0o600);
    const { folder } = this.#files;
    const child = spawn(program, [...args, folder], { cwd: folder, detached: true, stdio: ['ignore', log, log] });
    child.unref();
    closeSync(log);
    await this.#until(
      AbortSignal.timeout(SUPERVISOR_START_MS),
      async () => (await this.#currentState()) !== null,
      () =>
        new RuntimeError(
          'supervisor_failed',
          `the supervisor of ${this.name} did not start: see ${this.#files.supervisorLogPath}`,
        ),
    );
  }

  async #until(signal: AbortSignal, holds: () => Promise<boolean>, late: () => RuntimeError, least = LEAST_POLL_MS) {
    const began = performance.now();
    while (!(await holds())) {
      if (signal.aborted) throw late();
      const pause = (performance.now() - began) * SHARE_OF_WAIT;
      await sleep(Math.min(MOST_POLL_MS, Math.max(least, pause)));
    }
  }
}

function idsOf(user: string): { uid: number; gid: number } {
  const { uid, gid } = systemUser(user);
  return { uid, gid };
}
