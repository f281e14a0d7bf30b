import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { EventView } from '@hoodcloud/contracts/http/events';
import type { RolloutDetail, RolloutNodeLogs, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import { allPages } from '../api/all-pages.ts';
import type { ApiClient } from '../api/api-client.ts';
import { ApiError } from '../api/problem.ts';
import { CliError } from '../cli-error.ts';
import type { CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderEvent } from './event-text.ts';
import { followEvents } from './follow-events.ts';
import { renderFrame, renderProgressLine } from './frame-text.ts';
import { LiveScreen } from './live-screen.ts';
import { outcomeOf, type RolloutOutcome } from './rollout-outcome.ts';

const LOOK_EVERY_MS = 1000;
/** Without a terminal one line of progress each five seconds is enough to see that it lives. */
const LINE_EVERY_MS = 5000;
/** What the live view, the progress lines and the nodes' own events say already. */
const SHOWN_OTHERWISE: ReadonlySet<EventView['kind']> = new Set(['rollout_progress', 'node_state_changed']);
/** The last events are on their way when the rollout has ended: the relay needs a moment. */
const LAST_EVENTS_MS = 1500;

/**
 * Shows a rollout until it ends, waits for a person, or `timeoutMs` passes: events as lines, and on a terminal a live
 * view below them. Ctrl-C ends the watching only.
 */
export async function watchRollout(io: CommandIo, id: string, timeoutMs?: number): Promise<ExitCode> {
  const watch = new RolloutWatch(await io.api(), io, id);
  return watch.run(timeoutMs);
}

class RolloutWatch {
  readonly #api: ApiClient;
  readonly #io: CommandIo;
  readonly #id: string;
  readonly #screen: LiveScreen;
  readonly #ending = new AbortController();
  readonly #logsShown = new Set<string>();
  #lastLine = { text: '', at: 0 };

  constructor(api: ApiClient, io: CommandIo, id: string) {
    this.#api = api;
    this.#io = io;
    this.#id = id;
    this.#screen = new LiveScreen(io.context.out);
  }

  async run(timeoutMs: number | undefined): Promise<ExitCode> {
    const events = this.#printEvents();
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
    try {
      for (;;) {
        const outcome = await this.#look();
        if (outcome) return await this.#end(outcome);
        if (Date.now() >= deadline) return this.#giveUp(timeoutMs ?? 0);
        await sleep(Math.min(LOOK_EVERY_MS, deadline - Date.now()), undefined, {
          signal: this.#io.context.interrupted,
        });
      }
    } catch (error) {
      if (this.#io.context.interrupted.aborted) this.#sayItGoesOn();
      throw error;
    } finally {
      this.#ending.abort();
      await events;
    }
  }

  /** One look at the rollout: draws it, shows the logs of nodes that failed since; answers the outcome if there is one. */
  async #look(): Promise<RolloutOutcome | null> {
    const seen = await this.#read();
    if (!seen) return null;
    const { rollout, nodes } = seen;
    const now = this.#io.context.now();
    this.#screen.draw(renderFrame(rollout, nodes, now, this.#screen.width));
    await this.#showLogs(nodes);
    if (!this.#screen.isLive) this.#progressLine(renderProgressLine(rollout, nodes), now);
    return outcomeOf(rollout);
  }

  /** null when the server is away for a moment: a rollout outlives a restart of its control plane, so does the watch. */
  async #read(): Promise<{ rollout: RolloutDetail; nodes: RolloutNodeView[] } | null> {
    try {
      const rollout = await this.#api.get<RolloutDetail>(PATHS.rollout(this.#id));
      return { rollout, nodes: await allPages<RolloutNodeView>(this.#api, PATHS.rolloutNodes(this.#id)) };
    } catch (error) {
      const passing = error instanceof CliError && !(error instanceof ApiError && error.status < 500);
      if (!passing || this.#io.context.interrupted.aborted) throw error;
      this.#progressLine(`${error.message} Trying again.`, this.#io.context.now());
      return null;
    }
  }

  #progressLine(text: string, now: Date): void {
    if (text === this.#lastLine.text || now.getTime() - this.#lastLine.at < LINE_EVERY_MS) return;
    this.#lastLine = { text, at: now.getTime() };
    this.#screen.print([`         · ${text}`]);
  }

  async #showLogs(nodes: readonly RolloutNodeView[]): Promise<void> {
    for (const node of nodes.filter(({ status }) => status === 'failed' || status === 'rolled_back')) {
      const attempt = `${node.node_id}/${node.attempt_count}`;
      if (this.#logsShown.has(attempt)) continue;
      this.#logsShown.add(attempt);
      const { lines } = await this.#api.get<RolloutNodeLogs>(PATHS.rolloutNodeLogs(this.#id, node.node_id));
      if (lines.length === 0) continue;
      const head = `         Last log lines of the version that failed on ${node.node_name}:`;
      this.#screen.print([head, ...lines.map((line) => `         │ ${line}`)]);
    }
  }

  async #printEvents(): Promise<void> {
    const signal = AbortSignal.any([this.#ending.signal, this.#io.context.interrupted]);
    for await (const event of followEvents(this.#api, PATHS.rolloutEvents(this.#id), signal)) {
      if (!SHOWN_OTHERWISE.has(event.kind)) this.#screen.print([renderEvent(event)]);
    }
  }

  async #end({ exitCode, sentence, next }: RolloutOutcome): Promise<ExitCode> {
    await sleep(LAST_EVENTS_MS, undefined, { signal: this.#io.context.interrupted });
    this.#screen.release();
    this.#screen.print([sentence, ...(next ? [`Next: ${next}`] : [])]);
    return exitCode;
  }

  #giveUp(timeoutMs: number): ExitCode {
    this.#screen.release();
    this.#screen.print([`It goes on after ${renderDuration(timeoutMs)}; the server's work was not touched.`]);
    return EXIT.timedOut;
  }

  #sayItGoesOn(): void {
    this.#screen.release();
    this.#screen.print([
      '',
      'The watching ended; the rollout goes on on the server.',
      `See it again: hoodctl rollout status ${this.#id} --watch`,
    ]);
  }
}
