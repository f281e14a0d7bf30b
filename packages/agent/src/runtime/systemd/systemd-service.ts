import { followLinks } from '../../host/atomic-file.ts';
import type { FileHashes } from '../../host/file-hash.ts';
import { isSameProcess, type ProcessIdentity } from '../../host/process-table.ts';
import { instancesOutside, requireNoInstanceOutside } from '../data-dir-fence.ts';
import { RuntimeError, type RuntimeStatus, type StartOptions } from '../runtime-adapter.ts';
import { Hold } from './hold.ts';
import { requireLinger } from './manager-scope.ts';
import { startFailed, watchStart } from './start-watch.ts';
import { StopGuard } from './stop-guard.ts';
import type { Systemctl } from './systemctl.ts';
import { refusalOf, warningsOf } from './unit-checks.ts';
import { UnitEnd } from './unit-end.ts';
import { UnitLog } from './unit-log.ts';
import { type Look, UnitLooks } from './unit-look.ts';
import { UnitNeighbours } from './unit-neighbours.ts';
import { artifactProcess } from './unit-processes.ts';
import { type UnitView, wantedRunning } from './unit-properties.ts';
import type { UnitSettings } from './unit-settings.ts';

/** One unit and where its parts lie. */
export interface SystemdUnit {
  /** Full name, e.g. `cometbft.service`. */
  readonly unit: string;
  readonly installPath: string;
  /** Whoever writes in here beside the unit is another instance of the node (A19). */
  readonly dataDir: string;
  readonly holdDir?: string;
  /** Only the main process is the component; the unit's others outlive it by design (`KillMode=process`). */
  readonly childrenStay?: boolean;
}

/** What is shared by the units of one agent. */
export interface SystemdParts {
  /** The systemd that runs the unit: the machine's or a user's. */
  readonly systemctl: Systemctl;
  readonly hashes: FileHashes;
}

/** Starts, stops, holds and watches one systemd unit: the half of the adapter that has nothing to do with files. */
export class SystemdService {
  readonly unit: string;
  readonly #where: SystemdUnit;
  readonly #systemctl: Systemctl;
  readonly #hashes: FileHashes;
  readonly #hold: Hold;
  readonly #guard: StopGuard;
  readonly #neighbours: UnitNeighbours;
  readonly #log: UnitLog;
  readonly #looks: UnitLooks;
  readonly #end: UnitEnd;

  constructor(where: SystemdUnit, { systemctl, hashes }: SystemdParts) {
    const { unit, holdDir } = where;
    this.unit = unit;
    this.#where = where;
    this.#systemctl = systemctl;
    this.#hashes = hashes;
    this.#hold = new Hold(unit, systemctl.scope, holdDir);
    this.#guard = new StopGuard(unit, systemctl);
    this.#neighbours = new UnitNeighbours(unit, systemctl, `${this.#hold.path}.neighbours`);
    this.#log = new UnitLog(unit, systemctl.scope);
    this.#looks = new UnitLooks(unit, systemctl, where.childrenStay);
    this.#end = new UnitEnd(this.#looks, systemctl);
  }

  /**
   * Lays the hold's drop-in and takes back what a stop that was broken off left.
   * @throws RuntimeError `unit_not_supported` | `unit_not_loaded` | `no_linger`
   */
  async prepare(): Promise<void> {
    requireLinger(this.#systemctl.scope);
    if (await this.#hold.lay()) await this.#systemctl.daemonReload();
    const { found, settings } = await this.#looks.lookAtSettings();
    requireSupported(this.unit, settings);
    if (found.state === 'running') await this.#guard.lower(found.view);
  }

  async leave(): Promise<void> {
    await this.#neighbours.forget();
    if (await this.#hold.takeAway()) await this.#systemctl.daemonReload();
    await this.#guard.lower();
  }

  /** What would stand in the way after the stop, asked before it (A10). @throws RuntimeError with the reason */
  async requireReady(): Promise<void> {
    const { found, settings } = await this.#looks.lookAtSettings();
    const { view, state, processes } = found;
    requireSupported(this.unit, settings);
    // of a node that stays stopped nothing is started
    if (wantedRunning(view, state) && !this.#where.childrenStay)
      await requireNoInstanceOutside(this.unit, this.#where, processes);
  }

  async warnings(): Promise<string[]> {
    return warningsOf(this.unit, await this.#looks.settings(), this.#where.installPath);
  }

  async status(): Promise<RuntimeStatus> {
    const { view, processes, state } = await this.#looks.look();
    const main = processes.find(({ pid }) => pid === view.mainPid) ?? null;
    const speaker = (await this.#artifactProcess(processes, view)) ?? main;
    return {
      state,
      wantedRunning: wantedRunning(view, state),
      held: await this.#hold.isSet(),
      mainPid: main?.pid ?? null,
      mainPidStartedAt: main?.startedAt ?? null,
      restarts: view.restarts,
      runningChecksum: speaker === null ? null : await this.#hashes.of(`/proc/${speaker.pid}/exe`),
      installedChecksum: await this.#hashes.of(this.#where.installPath),
    };
  }

  async hold(): Promise<void> {
    if (await this.#hold.lay()) await this.#systemctl.daemonReload();
    const { processes } = await this.#looks.look();
    await this.#hold.set(processes);
    await this.#hold.requireVisible(this.#systemctl);
  }

  async release(): Promise<void> {
    await this.#hold.release();
  }

  async start(options: StartOptions): Promise<void> {
    const { signal, stableMs, toleratedRestarts = 0 } = options;
    // side by side: this is downtime. Resetting first would change nothing that the look is for.
    const reset = this.#systemctl.run('reset-failed', this.unit, signal);
    const [found] = await Promise.all([this.#looks.look(), reset]);
    if (found.state === 'running' || found.state === 'starting') await this.#hold.release();
    else await this.#launch(found, signal);
    await watchStart(this.unit, () => this.#startLook(), {
      stableMs,
      toleratedRestarts,
      signal,
      conditionsCheckedBefore: found.view.conditionCheckedAt,
      tellingLine: () => this.#log.tellingLine(),
      startAgain: () => this.#startAgain(signal),
    });
    await this.#neighbours.bringBack(signal);
    await this.#guard.lower();
  }

  async stop(signal: AbortSignal): Promise<void> {
    const { found, settings } = await this.#looks.lookAtSettings();
    if (found.state === 'stopped') return;
    await this.#neighbours.remember(settings);
    await this.#guard.raise(settings);
    await this.#end.stop(found, signal);
  }

  async waitUntilGone(signal: AbortSignal): Promise<void> {
    await this.#end.untilGone(await this.#hold.livingProcesses(), signal);
  }

  reloadDaemon(): Promise<void> {
    return this.#systemctl.daemonReloadIfChanged();
  }

  async logTail(maxLines: number): Promise<string[]> {
    const { view } = await this.#looks.look();
    return this.#log.tail(maxLines, view.invocationId);
  }

  async #launch(found: Look, signal: AbortSignal): Promise<void> {
    await this.#requireFence(found);
    if (found.view.needsReload) await this.#systemctl.daemonReload();
    await this.#neighbours.openSockets();
    await this.#log.markStart();
    await this.#hold.releaseFor(() => this.#order(signal));
  }

  /** A unit that ran into its start limit inside what the chain tolerates. */
  async #startAgain(signal: AbortSignal): Promise<void> {
    await this.#systemctl.run('reset-failed', this.unit, signal);
    await this.#requireFence(await this.#looks.look());
    await this.#order(signal);
  }

  /** Only queued: what becomes of it the unit shows, whatever the client hears (field-case 57). */
  async #order(signal: AbortSignal): Promise<void> {
    const refused = await this.#systemctl.orderStart(this.unit, signal);
    if (refused !== '') throw startFailed(this.unit, `systemd refused the start: ${refused}`);
  }

  /** No start beside an instance that lives: two of one validator sign twice (A19). */
  async #requireFence({ state, processes }: Look): Promise<void> {
    const outside = this.#where.childrenStay ? [] : await instancesOutside(this.#where, processes);
    const left = (await this.#hold.livingProcesses()).concat(processes, outside);
    if (state !== 'stopping' && left.length === 0) return;
    const pids = [...new Set(left.map(({ pid }) => pid))].join(', ');
    throw new RuntimeError(
      'fence_violated',
      `${this.unit} is not started: an earlier instance still lives (${pids === '' ? state : `pid ${pids}`}); wait until it has ended or end it by hand`,
    );
  }

  async #startLook() {
    const { view, processes } = await this.#looks.look();
    const main = processes.find(({ pid }) => pid === view.mainPid) ?? null;
    const worker = await this.#artifactProcess(processes, view);
    return { view, main, worker: worker && main && isSameProcess(worker, main) ? null : worker };
  }

  async #artifactProcess(processes: readonly ProcessIdentity[], { rootDirectory }: UnitView) {
    return artifactProcess(processes, await followLinks(this.#where.installPath), rootDirectory);
  }
}

function requireSupported(unit: string, settings: UnitSettings): void {
  const refusal = refusalOf(settings);
  if (refusal === undefined) return;
  throw new RuntimeError('unit_not_supported', `${unit} cannot be upgraded by the agent: ${refusal}`);
}
