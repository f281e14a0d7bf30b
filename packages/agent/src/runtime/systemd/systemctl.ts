import { type Called, callProgram } from '../../host/program-call.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import { unitFilesNow } from './unit-files.ts';
import { parseUnit, UNIT_PROPERTIES, type UnitView } from './unit-properties.ts';

const SHOW_TIMEOUT_MS = 10_000;
const RELOAD_TIMEOUT_MS = 60_000;

/**
 * The machine's systemd, by `systemctl` with argument arrays. One instance serves every unit of an agent, because
 * daemon-reloads are made one at a time: systemd has hung a start that met two of them (field case 57).
 */
export class Systemctl {
  #reloading: Promise<unknown> = Promise.resolve();
  /** The unit files as they were when we last made systemd read them. */
  #read: string | null = null;

  /**
   * One look at a unit; a unit that isn't there has `loadState` `not-found`.
   * @throws RuntimeError `systemd_unreachable`
   */
  async show(unit: string): Promise<UnitView> {
    const args = ['show', '--no-pager', '-p', UNIT_PROPERTIES.join(','), '--', unit];
    const called = await call('systemctl', args, AbortSignal.timeout(SHOW_TIMEOUT_MS));
    if (called.code !== 0) throw unreachable(called.stderr);
    return parseUnit(called.stdout);
  }

  /** Starts, stops or resets a unit and waits for its job. An abort ends the waiting, the job goes on. */
  run(verb: 'start' | 'stop' | 'reset-failed', unit: string, signal: AbortSignal): Promise<Called> {
    return call('systemctl', [verb, '--no-pager', '--no-ask-password', '--', unit], signal);
  }

  /**
   * Makes systemd read changed unit files; calls wait for each other.
   * @throws RuntimeError `reload_failed`
   */
  async daemonReload(): Promise<void> {
    const reload = this.#reloading.then(() => this.#reload());
    this.#reloading = reload.catch(() => undefined); // whoever waits its turn doesn't care how the one before ended
    await reload;
  }

  /**
   * As `daemonReload`, but saves the time of it, which is downtime of a node, when no unit file on this host has changed
   * since this process last made systemd read them.
   */
  async daemonReloadIfChanged(): Promise<void> {
    await this.#reloading;
    if (this.#read === null || this.#read !== unitFilesNow()) await this.daemonReload();
  }

  async #reload(): Promise<void> {
    const files = unitFilesNow(); // before: a file that changes meanwhile counts as not read
    const called = await call('systemctl', ['daemon-reload'], AbortSignal.timeout(RELOAD_TIMEOUT_MS));
    if (called.code !== 0) {
      throw new RuntimeError('reload_failed', `systemctl daemon-reload failed: ${called.stderr.trim()}`);
    }
    this.#read = files;
  }
}

/** Runs one of systemd's programs to its end; its exit code is a value. Rejects with the signal's reason too. */
export async function call(program: string, args: readonly string[], signal: AbortSignal): Promise<Called> {
  try {
    return await callProgram(program, args, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    throw unreachable(`${program}: ${error.message}`, error);
  }
}

function unreachable(said: string, cause?: unknown): RuntimeError {
  const sentence = `systemd does not answer: ${said.trim()} Check that the agent runs as root on a host with systemd.`;
  return new RuntimeError('systemd_unreachable', sentence, { cause });
}
