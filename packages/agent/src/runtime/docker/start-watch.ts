import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, type StartOptions } from '../runtime-adapter.ts';
import { describeEnd } from './container-state.ts';
import type { ContainerView } from './engine.ts';

const POLL_MS = 200;

/** What the looks so far amount to. */
export type StartVerdict =
  | { readonly kind: 'stable' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'failed'; readonly cause: string };

type Look = Pick<ContainerView, 'State' | 'RestartCount'>;

/**
 * Judges a start by a series of looks: that the engine started a container says nothing (D4c), it is up when it has run
 * since the same moment for the whole time and was not restarted (A15). Time is an argument, in milliseconds of any clock.
 */
export class StartJudge {
  readonly #stableMs: number;
  readonly #toleratedRestarts: number;
  /** Restarts before this start: of a container that ran already, or 0, from which the engine counts after each start. */
  readonly #restartsBefore: number;
  #startedAt: string | undefined;
  #sinceMs = 0;

  constructor(stableMs: number, toleratedRestarts = 0, restartsBefore = 0) {
    this.#stableMs = stableMs;
    this.#toleratedRestarts = toleratedRestarts;
    this.#restartsBefore = restartsBefore;
  }

  judge({ State, RestartCount }: Look, nowMs: number): StartVerdict {
    const restarts = RestartCount - this.#restartsBefore + Number(State.Restarting);
    if (restarts > this.#toleratedRestarts) {
      // of one that runs again the engine shows code 0, whatever the last one ended with
      const ended = State.Running && !State.Restarting ? 'it ended' : describeEnd(State);
      return { kind: 'failed', cause: `${ended}, and ${this.#restarted(restarts)}` };
    }
    if (State.Restarting) return { kind: 'wait' };
    if (!State.Running) return { kind: 'failed', cause: describeEnd(State) };
    if (this.#startedAt !== State.StartedAt) {
      this.#startedAt = State.StartedAt;
      this.#sinceMs = nowMs;
    }
    return nowMs - this.#sinceMs >= this.#stableMs ? { kind: 'stable' } : { kind: 'wait' };
  }

  #restarted(restarts: number): string {
    if (this.#toleratedRestarts === 0) return 'the engine restarted it';
    return `the engine restarted it for the ${restarts}. time, ${this.#toleratedRestarts} are tolerated`;
  }
}

/**
 * Looks until the start is stable.
 * @param tellingLine by which the program said why it ended; the operator reads the cause there first
 * @throws RuntimeError `start_failed` with the cause, also when the signal ends first
 */
export async function watchStart(
  service: string,
  look: () => Promise<Look>,
  { stableMs, toleratedRestarts, signal, restartsBefore }: StartOptions & { readonly restartsBefore: number },
  tellingLine: () => Promise<string | undefined>,
): Promise<void> {
  const judge = new StartJudge(stableMs, toleratedRestarts, restartsBefore);
  for (;;) {
    const verdict = judge.judge(await look(), performance.now());
    if (verdict.kind === 'stable') return;
    if (verdict.kind === 'failed') throw startFailed(service, verdict.cause, await tellingLine());
    if (signal.aborted) throw startFailed(service, 'it was not up and unchanged within its time budget');
    await sleep(Math.min(POLL_MS, stableMs || POLL_MS));
  }
}

export function startFailed(service: string, cause: string, said?: string): RuntimeError {
  const words = said === undefined ? '' : `; it said: ${said}`;
  return new RuntimeError('start_failed', `${service} did not stay up: ${cause}${words}`);
}
