import type { EventView } from '@hoodcloud/contracts/http/events';
import type { RolloutNodeLogs } from '@hoodcloud/contracts/http/rollout-views';
import type { CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { renderEvent } from './event-text.ts';
import { renderProgressLine } from './progress-line.ts';
import type { SeenRollout } from './rollout-reader.ts';

/** How a watch ends: what happened, and what a person does next. */
export interface WatchEnd {
  readonly exitCode: ExitCode;
  readonly sentence: string;
  readonly next: string | null;
}

/** What shows a watched rollout. */
export interface RolloutWatchView {
  look(seen: SeenRollout): void;
  event(event: EventView): void;
  logs(logs: RolloutNodeLogs): void;
  /** The server is away for a moment. */
  trouble(text: string): void;
  end(end: WatchEnd): void;
}

/** Without a terminal one line of progress each five seconds is enough to see that it lives. */
const LINE_EVERY_MS = 5000;

/** The end of a watch, and the last log lines of what failed, as lines for people. */
export function endLines({ sentence, next }: WatchEnd): string {
  return [sentence, ...(next ? [`Next: ${next}`] : [])].map((line) => `${line}\n`).join('');
}

export function logLines({ node_name, lines }: RolloutNodeLogs): string {
  const head = `         Last log lines of the version that failed on ${node_name}:`;
  return [head, ...lines.map((line) => `         │ ${line}`)].map((line) => `${line}\n`).join('');
}

/** Lines for logs and pipes: each event, and now and then how far it is. */
export class LinesView implements RolloutWatchView {
  readonly #io: CommandIo;
  #last = { text: '', at: 0 };

  constructor(io: CommandIo) {
    this.#io = io;
  }

  look({ rollout, nodes }: SeenRollout): void {
    this.#progress(renderProgressLine(rollout, nodes));
  }

  event(event: EventView): void {
    this.#io.context.out.write(`${renderEvent(event)}\n`);
  }

  logs(logs: RolloutNodeLogs): void {
    this.#io.context.out.write(logLines(logs));
  }

  trouble(text: string): void {
    this.#progress(text);
  }

  end(end: WatchEnd): void {
    this.#io.context.out.write(endLines(end));
  }

  #progress(text: string): void {
    const now = this.#io.context.now().getTime();
    if (text === this.#last.text || now - this.#last.at < LINE_EVERY_MS) return;
    this.#last = { text, at: now };
    this.#io.context.out.write(`         · ${text}\n`);
  }
}

/** For programs: one object for each look that shows something new, each event, each log, and the end. */
export class ObjectsView implements RolloutWatchView {
  readonly #io: CommandIo;
  #last = '';

  constructor(io: CommandIo) {
    this.#io = io;
  }

  look({ rollout }: SeenRollout): void {
    const text = JSON.stringify(rollout);
    if (text === this.#last) return;
    this.#last = text;
    this.#io.tell({ type: 'rollout', rollout });
  }

  event(event: EventView): void {
    this.#io.tell({ type: 'event', event });
  }

  logs(logs: RolloutNodeLogs): void {
    this.#io.tell({ type: 'logs', logs });
  }

  trouble(text: string): void {
    this.#io.tell({ type: 'trouble', sentence: text });
  }

  end({ exitCode, sentence, next }: WatchEnd): void {
    this.#io.tell({ type: 'end', exit_code: exitCode, sentence, next });
  }
}
