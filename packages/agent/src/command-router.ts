import { fromJson, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type Command,
  type CommandProgressSchema,
  type CommandResult,
  CommandResultSchema,
  type ConnectRequestSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import type { Logger } from 'pino';
import { unacknowledged } from './upgrade/attempt-record.ts';
import type { AttemptStore } from './upgrade/attempt-store.ts';
import type { ExecutionProgress } from './upgrade/executor.ts';
import type { UpgradeHandler } from './upgrade/upgrade-handler.ts';

type Message = NonNullable<MessageInitShape<typeof ConnectRequestSchema>['message']>;
type Progress = MessageInitShape<typeof CommandProgressSchema>;

/** Within one action, progress is told at most so often. */
const PROGRESS_INTERVAL_MS = 1_000;

/** Who carries commands out. */
export type CommandHandler = Pick<UpgradeHandler, 'handle' | 'acknowledge'>;

interface LatestProgress {
  readonly message: Progress;
  readonly sentAtMs: number;
}

export interface CommandRouterOptions {
  readonly store: AttemptStore;
  readonly log: Logger;
  /** False when there is no session. */
  readonly send: (message: Message) => boolean;
  readonly now: () => number;
}

/**
 * Between stream and handler: acknowledges, hands each command over once, and tells progress and results. Commands come
 * at least once and so do results: one is told again in each session until the control plane says that it has it (B1).
 */
export class CommandRouter {
  readonly #options: CommandRouterOptions;
  readonly #running = new Set<string>();
  readonly #results = new Map<string, CommandResult>();
  readonly #progress = new Map<string, LatestProgress>();
  #handler: CommandHandler | null = null;

  constructor(options: CommandRouterOptions) {
    this.#options = options;
  }

  /** Takes over the results that a former life of this agent could not deliver. */
  async start(handler: CommandHandler): Promise<void> {
    this.#handler = handler;
    for (const record of await this.#options.store.list()) {
      for (const [, { commandId, result }] of unacknowledged(record)) {
        this.#results.set(commandId, fromJson(CommandResultSchema, result ?? {}));
      }
    }
  }

  /** Attempts that a new session must know to be under way, or ended without its knowledge. */
  openAttemptIds(): string[] {
    const running = [...this.#progress.values()].map(({ message }) => message.attemptId ?? '');
    return [...new Set([...running, ...[...this.#results.values()].map(({ attemptId }) => attemptId)])];
  }

  /** A session began: says again what the last one may not have heard. */
  onSession(): void {
    for (const { message } of this.#progress.values()) this.#options.send({ case: 'commandProgress', value: message });
    for (const result of this.#results.values()) this.#options.send({ case: 'commandResult', value: result });
  }

  onCommand(command: Command): void {
    const { commandId } = command;
    const { log, send } = this.#options;
    send({ case: 'commandAck', value: { commandId } });
    const known = this.#results.get(commandId);
    if (known !== undefined) send({ case: 'commandResult', value: known });
    if (known !== undefined || this.#running.has(commandId) || this.#handler === null) return;
    log.info({ command: commandId, attempt: command.upgrade?.attemptId }, 'a command came');
    this.#running.add(commandId);
    this.#handler.handle(command).catch((error: unknown) => {
      this.#running.delete(commandId); // delivered again, it is tried again
      log.error({ err: error, command: commandId }, 'a command could not be handled');
    });
  }

  /** The result is on the disk already. */
  onResult(result: CommandResult): void {
    this.#running.delete(result.commandId);
    this.#progress.delete(result.commandId);
    this.#results.set(result.commandId, result);
    this.#options.log.info(
      { command: result.commandId, outcome: result.outcome, error: result.errorMessage },
      'result',
    );
    this.#options.send({ case: 'commandResult', value: result });
  }

  onResultAck(commandId: string): void {
    const result = this.#results.get(commandId);
    if (result === undefined) return;
    this.#results.delete(commandId);
    this.#handler?.acknowledge(result).catch((error: unknown) => {
      // the result is sent once more after the next restart, which is harmless
      this.#options.log.warn({ err: error, command: commandId }, 'the acknowledgement could not be recorded');
    });
  }

  onProgress(commandId: string, attemptId: string, progress: ExecutionProgress): void {
    const { actionIndex, action: actionName, progressPct, phase, note } = progress;
    const message = { commandId, attemptId, actionIndex, actionName, progressPct, phase, note };
    const latest = this.#progress.get(commandId);
    const now = this.#options.now();
    const moved = latest?.message.actionName !== actionName || latest.message.phase !== phase;
    const due = moved || now - latest.sentAtMs >= PROGRESS_INTERVAL_MS;
    this.#running.add(commandId); // an attempt that was resumed at start-up came by no command of this life
    this.#progress.set(commandId, { message, sentAtMs: due ? now : (latest?.sentAtMs ?? now) });
    if (due) this.#options.send({ case: 'commandProgress', value: message });
  }
}
