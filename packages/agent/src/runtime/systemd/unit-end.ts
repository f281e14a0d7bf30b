import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type ProcessIdentity } from '../../host/process-table.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import type { Systemctl } from './systemctl.ts';
import type { Look, UnitLooks } from './unit-look.ts';
import type { UnitView } from './unit-properties.ts';

const POLL_MS = 50;
/** How often the unit is asked while a client waits for the end of the stop: it may never hear of it (field-case 57). */
const BESIDE_CLIENT_MS = 1_000;
/** Milliseconds within which systemd hears an order, however busy the host is. */
const ORDER_HEARD_MS = 30_000;

/** Asks one unit to stop and waits until nothing of it lives. Kills nothing (A7). */
export class UnitEnd {
  readonly #looks: UnitLooks;
  readonly #systemctl: Systemctl;

  constructor(looks: UnitLooks, systemctl: Systemctl) {
    this.#looks = looks;
    this.#systemctl = systemctl;
  }

  /** @throws RuntimeError `stop_overrun` when the signal ends first; the stop then goes on by itself */
  async stop({ view, processes }: Look, signal: AbortSignal): Promise<void> {
    // Asked for in any case, and not taken back when the budget ends: an overrun goes on by itself.
    const stopping = this.#untilStopped(view.controlGroup, processes);
    try {
      await endedOrAborted(stopping, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      await this.#untilAsked();
      throw this.#overrun(error);
    }
  }

  /** @param known processes that must be gone besides those of the unit */
  async untilGone(known: readonly ProcessIdentity[], signal: AbortSignal, pollMs = POLL_MS): Promise<void> {
    const asked = new Set<number>();
    for (;;) {
      const { view, state, processes } = await this.#looks.look();
      const alive = await Promise.all(known.map(isAlive));
      if (state === 'stopped' && processes.length === 0 && !alive.includes(true)) return;
      signal.throwIfAborted();
      askLeftBehind(view, processes, asked);
      await sleep(pollMs, undefined, { signal }).catch(() => undefined); // the next turn says so
    }
  }

  /** By its client or, should that one never hear of it, by looking at the unit. */
  async #untilStopped(controlGroup: string, processes: readonly ProcessIdentity[]): Promise<void> {
    const client = new AbortController();
    const ended = new AbortController();
    const asked = this.#askToStop(client.signal);
    const seen = sleep(BESIDE_CLIENT_MS, undefined, { signal: ended.signal }).then(() =>
      this.untilGone(processes, ended.signal, BESIDE_CLIENT_MS),
    );
    try {
      await Promise.race([asked, seen.catch(() => asked)]);
    } finally {
      ended.abort();
      client.abort();
    }
    if (!(await this.#haveEnded(controlGroup, processes))) {
      await this.untilGone(processes, new AbortController().signal);
    }
  }

  async #askToStop(signal: AbortSignal): Promise<void> {
    const called = await this.#systemctl.run('stop', this.#looks.unit, signal);
    if (called.code === 0) return;
    throw new RuntimeError('stop_failed', `systemctl stop ${this.#looks.unit} failed: ${called.stderr.trim()}`);
  }

  /** A budget may end before systemd has heard the order to stop: whoever is told of an overrun must find it stopping. */
  async #untilAsked(): Promise<void> {
    const patience = AbortSignal.timeout(ORDER_HEARD_MS);
    while ((await this.#looks.look()).state === 'running' && !patience.aborted) await sleep(POLL_MS);
  }

  /**
   * After a `systemctl stop` that succeeded, which has waited for its job: the unit is down, so only processes are left to
   * be asked for. Saves a `systemctl show`, which would be downtime.
   */
  async #haveEnded(controlGroup: string, known: readonly ProcessIdentity[]): Promise<boolean> {
    const left = await this.#looks.processesOf(controlGroup, null);
    return left.length === 0 && !(await Promise.all(known.map(isAlive))).includes(true);
  }

  #overrun(cause: unknown): RuntimeError {
    const sentence = `${this.#looks.unit} has not stopped within its budget; it is not killed and goes on stopping by itself`;
    return new RuntimeError('stop_overrun', sentence, { cause });
  }
}

/**
 * Under `KillMode=mixed` systemd asks only the main process to stop, and would then kill the others, which the guard
 * forbids. So those are asked too, once, when the main one has ended: nobody else would.
 */
function askLeftBehind(
  { activeState, killMode, killSignal }: UnitView,
  left: readonly ProcessIdentity[],
  asked: Set<number>,
) {
  if (killMode !== 'mixed' || !['inactive', 'failed'].includes(activeState)) return;
  for (const { pid } of left) {
    if (asked.has(pid)) continue;
    asked.add(pid);
    endQuietly(pid, killSignal);
  }
}

function endQuietly(pid: number, signal: number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error; // it has just ended
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
