import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessIdentity } from '../../host/process-table.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import { describeEnd, type UnitView } from './unit-properties.ts';

const POLL_MS = 200;

/** One look at a unit that was started. */
export interface StartLook {
  readonly view: UnitView;
  readonly main: ProcessIdentity | null;
  /** The process that runs the artifact, when that is another one than the main process. */
  readonly worker: ProcessIdentity | null;
}

/** What the looks so far amount to. */
export type StartVerdict =
  | { readonly kind: 'stable' }
  | { readonly kind: 'wait' }
  /** systemd has given up (start limit), though more restarts are tolerated. */
  | { readonly kind: 'start_again' }
  | { readonly kind: 'failed'; readonly cause: string };

/**
 * Judges a start by a series of looks: `systemctl start` says nothing (D4c), a service is up when it is active with the
 * same processes for the whole time and was not restarted (A15). Time is an argument, in milliseconds of any clock.
 */
export class StartJudge {
  readonly #stableMs: number;
  readonly #toleratedRestarts: number;
  readonly #conditionsCheckedBefore: number;
  /** Restarts that `reset-failed` has taken off systemd's count. */
  #restartsBefore = 0;
  #processes: string | undefined;
  #sinceMs = 0;

  /** @param conditionsCheckedBefore `conditionCheckedAt` of the unit before it was started; -1 when that doesn't matter */
  constructor(stableMs: number, toleratedRestarts = 0, conditionsCheckedBefore = -1) {
    this.#stableMs = stableMs;
    this.#toleratedRestarts = toleratedRestarts;
    this.#conditionsCheckedBefore = conditionsCheckedBefore;
  }

  judge({ view, main, worker }: StartLook, nowMs: number): StartVerdict {
    // systemd counts a restart when it queues the job for it, not while the unit waits for that
    const awaited = view.subState.startsWith('auto-restart') && !view.jobQueued;
    const restarts = this.#restartsBefore + view.restarts + Number(awaited);
    if (view.activeState === 'failed' && view.restartsByItself && restarts < this.#toleratedRestarts) {
      this.#restartsBefore = restarts + 1;
      return { ...this.#startOver(), kind: 'start_again' };
    }
    const failure = this.#failure(view, restarts);
    if (failure !== undefined) return { kind: 'failed', cause: failure };
    if (view.activeState !== 'active' || main === null) return this.#startOver();
    const processes = JSON.stringify([main, worker]);
    if (processes !== this.#processes) {
      this.#processes = processes; // a wrapper's child that is restarted again and again never gets past this
      this.#sinceMs = nowMs;
    }
    return nowMs - this.#sinceMs >= this.#stableMs ? { kind: 'stable' } : { kind: 'wait' };
  }

  #failure(view: UnitView, restarts: number): string | undefined {
    // reset-failed has zeroed the counter before: a first crash may be over before the first look
    if (restarts > this.#toleratedRestarts) return `${describeEnd(view)}, and ${this.#restarted(restarts)}`;
    if (view.activeState === 'failed') return describeEnd(view);
    if (view.activeState !== 'inactive' || view.jobQueued) return undefined;
    if (view.conditionCheckedAt === this.#conditionsCheckedBefore) {
      return 'a unit that it requires did not start, so systemd dropped the job';
    }
    return view.conditionMet ? describeEnd(view) : 'a condition of the unit keeps it down';
  }

  #restarted(restarts: number): string {
    if (this.#toleratedRestarts === 0) return 'systemd restarted it';
    return `systemd restarted it for the ${restarts}. time, ${this.#toleratedRestarts} are tolerated`;
  }

  #startOver(): StartVerdict {
    this.#processes = undefined;
    return { kind: 'wait' };
  }
}

interface StartWatchOptions {
  readonly stableMs: number;
  readonly toleratedRestarts: number;
  /** `conditionCheckedAt` of the unit before it was started. */
  readonly conditionsCheckedBefore: number;
  readonly signal: AbortSignal;
  readonly startAgain: () => Promise<void>;
  /** By which line the program said why it ended; the operator reads the cause there first. */
  readonly tellingLine: () => Promise<string | undefined>;
}

/**
 * Looks until the start is stable.
 * @throws RuntimeError `start_failed` with the cause, also when the signal ends first
 */
export async function watchStart(
  unit: string,
  look: () => Promise<StartLook>,
  options: StartWatchOptions,
): Promise<void> {
  const judge = new StartJudge(options.stableMs, options.toleratedRestarts, options.conditionsCheckedBefore);
  for (;;) {
    const now = await look();
    const verdict = judge.judge(now, performance.now());
    if (verdict.kind === 'stable') return;
    if (verdict.kind === 'failed') throw startFailed(unit, verdict.cause, await options.tellingLine());
    if (options.signal.aborted) throw startFailed(unit, lateCause(now), await options.tellingLine());
    if (verdict.kind === 'start_again') await options.startAgain();
    await sleep(Math.min(POLL_MS, options.stableMs || POLL_MS));
  }
}

function lateCause({ view }: StartLook): string {
  if (view.activeState !== 'activating') return 'it was not up and unchanged within its time budget';
  return `it was still starting (${view.subState}) at the end of its time budget: a larger start_seconds in the chain's runtime.yaml gives it more`;
}

export function startFailed(unit: string, cause: string, said?: string): RuntimeError {
  const words = said === undefined ? '' : `; it said: ${said}`;
  return new RuntimeError('start_failed', `${unit} did not stay up: ${cause}${words}`);
}
