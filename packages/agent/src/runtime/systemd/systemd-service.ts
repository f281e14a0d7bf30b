import { setTimeout as sleep } from 'node:timers/promises';
import { followLinks } from '../../host/atomic-file.ts';
import type { FileHashes } from '../../host/file-hash.ts';
import { isAlive, type ProcessIdentity } from '../../host/process-table.ts';
import { RuntimeError, type RuntimeStatus, type StartOptions } from '../runtime-adapter.ts';
import { Hold, isSame } from './hold.ts';
import { startFailed, watchStart } from './start-watch.ts';
import { StopGuard } from './stop-guard.ts';
import type { Systemctl } from './systemctl.ts';
import { UnitLog } from './unit-log.ts';
import { artifactProcess, processesOf } from './unit-processes.ts';
import { type UnitView, unitState, wantedRunning } from './unit-properties.ts';

const POLL_MS = 50;
/** Milliseconds within which systemd hears an order, however busy the host is. */
const ORDER_HEARD_MS = 5_000;

/** One unit and where its parts lie. */
export interface SystemdUnit {
  /** Full name, e.g. `cometbft.service`. */
  readonly unit: string;
  readonly installPath: string;
  readonly holdDir?: string;
  /** Only the main process is the component; the unit's others outlive it by design (`KillMode=process`). */
  readonly childrenStay?: boolean;
}

/** What is shared by the units of one agent. */
export interface SystemdParts {
  readonly systemctl: Systemctl;
  readonly hashes: FileHashes;
}

interface Look {
  readonly view: UnitView;
  readonly processes: readonly ProcessIdentity[];
  readonly state: RuntimeStatus['state'];
}

/** Starts, stops, holds and watches one systemd unit: the half of the adapter that has nothing to do with files. */
export class SystemdService {
  readonly unit: string;
  readonly #installPath: string;
  readonly #childrenStay: boolean;
  readonly #systemctl: Systemctl;
  readonly #hashes: FileHashes;
  readonly #hold: Hold;
  readonly #guard: StopGuard;
  readonly #log: UnitLog;

  constructor({ unit, installPath, holdDir, childrenStay = false }: SystemdUnit, { systemctl, hashes }: SystemdParts) {
    this.unit = unit;
    this.#installPath = installPath;
    this.#childrenStay = childrenStay;
    this.#systemctl = systemctl;
    this.#hashes = hashes;
    this.#hold = new Hold(unit, holdDir);
    this.#guard = new StopGuard(unit, systemctl);
    this.#log = new UnitLog(unit);
  }

  /** Lays the hold's drop-in and takes back what a stop that was broken off left. */
  async prepare(): Promise<void> {
    if (await this.#hold.lay()) await this.#systemctl.daemonReload();
    const { state } = await this.#look();
    if (state === 'running') await this.#guard.lower();
  }

  async leave(): Promise<void> {
    if (await this.#hold.takeAway()) await this.#systemctl.daemonReload();
    await this.#guard.lower();
  }

  async status(): Promise<RuntimeStatus> {
    const { view, processes, state } = await this.#look();
    const main = processes.find(({ pid }) => pid === view.mainPid) ?? null;
    const speaker = (await artifactProcess(processes, await followLinks(this.#installPath))) ?? main;
    return {
      state,
      wantedRunning: wantedRunning(view, state),
      held: await this.#hold.isSet(),
      mainPid: main?.pid ?? null,
      mainPidStartedAt: main?.startedAt ?? null,
      restarts: view.restarts,
      runningChecksum: speaker === null ? null : await this.#hashes.of(`/proc/${speaker.pid}/exe`),
      installedChecksum: await this.#hashes.of(this.#installPath),
    };
  }

  async hold(): Promise<void> {
    if (await this.#hold.lay()) await this.#systemctl.daemonReload();
    const { processes } = await this.#look();
    await this.#hold.set(processes);
  }

  release(): Promise<void> {
    return this.#hold.release();
  }

  async start({ signal, stableMs, toleratedRestarts = 0 }: StartOptions): Promise<void> {
    // side by side: this is downtime. Resetting first would change nothing that the look is for.
    const reset = this.#systemctl.run('reset-failed', this.unit, signal);
    const [found] = await Promise.all([this.#look(), reset]);
    if (found.state === 'running' || found.state === 'starting') await this.#hold.release();
    else await this.#launch(found, signal);
    const options = { stableMs, toleratedRestarts, signal, tellingLine: () => this.#log.tellingLine() };
    await watchStart(this.unit, () => this.#startLook(), options);
    await this.#guard.lower();
  }

  async stop(signal: AbortSignal): Promise<void> {
    const { view, state, processes } = await this.#look();
    if (state === 'stopped') return;
    await this.#guard.raise();
    // Asked for in any case, and not taken back when the budget ends: an overrun goes on by itself.
    const stopping = this.#askToStop();
    try {
      await endedOrAborted(stopping, signal);
      if (!(await this.#haveEnded(view.controlGroup, processes))) await this.#untilGone(processes, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      await this.#untilAsked();
      throw this.#overrun(error);
    }
  }

  async waitUntilGone(signal: AbortSignal): Promise<void> {
    await this.#untilGone(await this.#hold.livingProcesses(), signal);
  }

  reloadDaemon(): Promise<void> {
    return this.#systemctl.daemonReloadIfChanged();
  }

  async logTail(maxLines: number): Promise<string[]> {
    const { view } = await this.#look();
    return this.#log.tail(maxLines, view.invocationId);
  }

  async #launch(found: Look, signal: AbortSignal): Promise<void> {
    await this.#requireFence(found);
    if (found.view.needsReload) await this.#systemctl.daemonReload();
    await this.#log.markStart();
    await this.#hold.release();
    const called = await this.#systemctl.run('start', this.unit, signal).catch((error) => {
      if (signal.aborted) throw startFailed(this.unit, 'it was not up within its time budget');
      throw error;
    });
    // A refusal may be a crash that the watch describes better; only what leaves no trace in the unit is told here.
    if (called.code !== 0 && (await this.#look()).view.result === 'success') {
      throw startFailed(this.unit, called.stderr.trim());
    }
  }

  async #askToStop(): Promise<void> {
    const called = await this.#systemctl.run('stop', this.unit, new AbortController().signal);
    if (called.code === 0) return;
    throw new RuntimeError('stop_failed', `systemctl stop ${this.unit} failed: ${called.stderr.trim()}`);
  }

  /** A budget may end before systemd has heard the order to stop: whoever is told of an overrun must find it stopping. */
  async #untilAsked(): Promise<void> {
    const patience = AbortSignal.timeout(ORDER_HEARD_MS);
    while ((await this.#look()).state === 'running' && !patience.aborted) await sleep(POLL_MS);
  }

  /** No start beside an instance that lives: two of one validator sign twice (A19). */
  async #requireFence({ state, processes }: Look): Promise<void> {
    const left = (await this.#hold.livingProcesses()).concat(processes);
    if (state !== 'stopping' && left.length === 0) return;
    const pids = [...new Set(left.map(({ pid }) => pid))].join(', ');
    throw new RuntimeError(
      'fence_violated',
      `${this.unit} is not started: an earlier instance still lives (${pids === '' ? state : `pid ${pids}`}); wait until it has ended or end it by hand`,
    );
  }

  /**
   * After a `systemctl stop` that succeeded, which has waited for its job: the unit is down, so only processes are left to
   * be asked for. Saves a `systemctl show`, which would be downtime.
   */
  async #haveEnded(controlGroup: string, known: readonly ProcessIdentity[]): Promise<boolean> {
    const left = await this.#processesOf(controlGroup, null);
    return left.length === 0 && !(await Promise.all(known.map(isAlive))).includes(true);
  }

  async #untilGone(known: readonly ProcessIdentity[], signal: AbortSignal): Promise<void> {
    for (;;) {
      const { state, processes } = await this.#look();
      const alive = await Promise.all(known.map(isAlive));
      if (state === 'stopped' && processes.length === 0 && !alive.includes(true)) return;
      signal.throwIfAborted();
      await sleep(POLL_MS);
    }
  }

  async #startLook() {
    const { view, processes } = await this.#look();
    const main = processes.find(({ pid }) => pid === view.mainPid) ?? null;
    const worker = await artifactProcess(processes, await followLinks(this.#installPath));
    return { view, main, worker: worker && main && isSame(worker, main) ? null : worker };
  }

  async #look(): Promise<Look> {
    const view = await this.#systemctl.show(this.unit);
    if (view.loadState !== 'loaded') throw this.#notLoaded(view.loadState);
    const processes = await this.#processesOf(view.controlGroup, view.mainPid);
    return { view, processes, state: unitState(view, processes.length) };
  }

  async #processesOf(controlGroup: string, mainPid: number | null): Promise<ProcessIdentity[]> {
    const all = await processesOf(controlGroup, mainPid);
    return this.#childrenStay ? all.filter(({ pid }) => pid === mainPid) : all;
  }

  #notLoaded(loadState: string): RuntimeError {
    const why: Record<string, string> = { 'not-found': 'there is no such unit', masked: 'the unit is masked' };
    const sentence = `${this.unit} cannot be managed: ${why[loadState] ?? `systemd says ${loadState}`}. Check the unit in the agent's configuration.`;
    return new RuntimeError('unit_not_loaded', sentence);
  }

  #overrun(cause: unknown): RuntimeError {
    const sentence = `${this.unit} has not stopped within its budget; it is not killed and goes on stopping by itself`;
    return new RuntimeError('stop_overrun', sentence, { cause });
  }
}

/** Settles as the work does, or rejects when the signal aborts first; the work goes on then. */
function endedOrAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
