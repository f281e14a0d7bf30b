import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { EventView } from '@hoodcloud/contracts/http/events';
import type { RolloutNodeLogs, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import type { ApiClient } from '../api/api-client.ts';
import { ApiError } from '../api/problem.ts';
import { CliError } from '../cli-error.ts';
import type { CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { followEvents } from './follow-events.ts';
import { outcomeOf } from './rollout-outcome.ts';
import { RolloutReader, type SeenRollout } from './rollout-reader.ts';
import { LinesView, ObjectsView, type RolloutWatchView, type WatchEnd } from './rollout-views.ts';

const LOOK_EVERY_MS = 1000;
/** What the live view, the progress lines and the nodes' own events say already. */
const SHOWN_OTHERWISE: ReadonlySet<EventView['kind']> = new Set(['rollout_progress', 'node_state_changed']);
/** The last events are on their way when the rollout has ended: the relay needs a moment. */
const LAST_EVENTS_MS = 1500;

/**
 * Shows a rollout until it ends, waits for a person, or `timeoutMs` passes: on a terminal as a full screen, else as lines,
 * for programs as objects. Leaving ends the watching only.
 */
export async function watchRollout(io: CommandIo, id: string, timeoutMs?: number): Promise<ExitCode> {
  const watch = new RolloutWatch(await io.api(), io, id);
  return watch.run(timeoutMs);
}

class RolloutWatch {
  readonly #api: ApiClient;
  readonly #io: CommandIo;
  readonly #id: string;
  readonly #reader: RolloutReader;
  readonly #ending = new AbortController();
  readonly #leaving = new AbortController();
  readonly #logsShown = new Set<string>();

  constructor(api: ApiClient, io: CommandIo, id: string) {
    this.#api = api;
    this.#io = io;
    this.#id = id;
    this.#reader = new RolloutReader(api, id);
  }

  async run(timeoutMs: number | undefined): Promise<ExitCode> {
    const left = AbortSignal.any([this.#leaving.signal, this.#io.context.interrupted]);
    const { view, close } = await this.#open();
    try {
      const events = this.#showEvents(view, AbortSignal.any([this.#ending.signal, left]));
      // A refused event stream ends the watch; one that ends by itself does not.
      const refused = events.then(() => new Promise<never>(() => undefined));
      const end = await Promise.race([this.#untilEnd(view, timeoutMs, left), refused]);
      this.#ending.abort();
      await events;
      view.end(end);
      return end.exitCode;
    } finally {
      this.#ending.abort();
      this.#leaving.abort();
      close(); // whatever ended it, the terminal is given back
    }
  }

  /** The view for what stdout is; the full screen is loaded only where it is shown. */
  async #open(): Promise<{ view: RolloutWatchView; close: () => void }> {
    const { terminal, format } = this.#io;
    if (terminal === null) {
      const view = format === 'table' ? new LinesView(this.#io) : new ObjectsView(this.#io);
      return { view, close: () => undefined };
    }
    const { ScreenView } = await import('./screen-view.tsx');
    const view = new ScreenView(this.#io, terminal, this.#reader, () => this.#leaving.abort());
    return { view, close: () => view.close() };
  }

  async #untilEnd(view: RolloutWatchView, timeoutMs: number | undefined, left: AbortSignal): Promise<WatchEnd> {
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
    try {
      for (;;) {
        const end = await this.#look(view);
        if (end) {
          await sleep(LAST_EVENTS_MS, undefined, { signal: left });
          return end;
        }
        if (Date.now() >= deadline) return this.#timedOut(timeoutMs ?? 0);
        await sleep(Math.min(LOOK_EVERY_MS, deadline - Date.now()), undefined, { signal: left });
      }
    } catch (error) {
      if (left.aborted) return this.#left();
      throw error;
    }
  }

  /** One look at the rollout, with the logs of nodes that failed since; answers the outcome if there is one. */
  async #look(view: RolloutWatchView): Promise<WatchEnd | null> {
    const seen = await this.#read(view);
    if (!seen) return null;
    view.look(seen);
    await this.#showLogs(view, seen.nodes);
    return outcomeOf(seen.rollout);
  }

  /** null when the server is away for a moment: a rollout outlives a restart of its control plane, so does the watch. */
  async #read(view: RolloutWatchView): Promise<SeenRollout | null> {
    try {
      return await this.#reader.look();
    } catch (error) {
      const passing = error instanceof CliError && !(error instanceof ApiError && error.status < 500);
      if (!passing || this.#io.context.interrupted.aborted) throw error;
      view.trouble(`${error.message} Trying again.`);
      return null;
    }
  }

  async #showLogs(view: RolloutWatchView, nodes: readonly RolloutNodeView[]): Promise<void> {
    for (const node of nodes.filter(({ status }) => status === 'failed' || status === 'rolled_back')) {
      const attempt = `${node.node_id}/${node.attempt_count}`;
      if (this.#logsShown.has(attempt)) continue;
      this.#logsShown.add(attempt);
      const logs = await this.#api.get<RolloutNodeLogs>(PATHS.rolloutNodeLogs(this.#id, node.node_id));
      if (logs.lines.length > 0) view.logs(logs);
    }
  }

  async #showEvents(view: RolloutWatchView, signal: AbortSignal): Promise<void> {
    for await (const event of followEvents(this.#api, PATHS.rolloutEvents(this.#id), signal)) {
      if (event.node_id !== null) this.#reader.changed(event.node_id);
      if (!SHOWN_OTHERWISE.has(event.kind)) view.event(event);
    }
  }

  #timedOut(timeoutMs: number): WatchEnd {
    const sentence = `It goes on after ${renderDuration(timeoutMs)}; the server's work was not touched.`;
    return { exitCode: EXIT.timedOut, sentence, next: null };
  }

  #left(): WatchEnd {
    const again = `hoodctl rollout status ${this.#id} --watch`;
    return {
      exitCode: EXIT.left,
      sentence: 'The watching ended; the rollout goes on on the server.',
      next: `${again}   (to see it again)`,
    };
  }
}
