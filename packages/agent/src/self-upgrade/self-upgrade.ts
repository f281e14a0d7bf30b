import { isSea } from 'node:sea';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, type CommandResult, Operation } from '@hoodcloud/contracts/wire/agent-v1';
import { phaseOfStep, UPGRADE_ACTION_NAMES } from '@hoodcloud/domain/upgrade-phase';
import type { Logger } from 'pino';
import { AgentError, describeError } from '../agent-error.ts';
import { copyDurably } from '../runtime/file-backup.ts';
import type { Systemctl } from '../runtime/systemd/systemctl.ts';
import type { AttemptRecord } from '../upgrade/attempt-record.ts';
import { refusal } from '../upgrade/attempt-result.ts';
import type { AttemptStore } from '../upgrade/attempt-store.ts';
import type { ExecutionProgress } from '../upgrade/executor.ts';
import type { HandlerReports } from '../upgrade/upgrade-handler.ts';
import { HandedOrders } from './handed-order.ts';
import { UPGRADE_UNIT } from './own-component.ts';

const POLL_MS = 500;
/** Milliseconds within which systemd starts the unit that upgrades the agent. */
const START_MS = 30_000;

export interface SelfUpgradeParts {
  readonly stateDir: string;
  /** `binary_name` of the agent itself; null when it is no component of this host. */
  readonly binaryName: string | null;
  readonly store: AttemptStore;
  readonly systemctl: Systemctl;
  readonly reports: HandlerReports;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * The agent's side of its own upgrade: an UPGRADE or COMPENSATE of the agent itself is handed to a process that outlives it,
 * and what that process did is told, by whichever agent is there then. Who owns such an attempt is never in question: the
 * handed order names it, and no agent resumes it itself (field-case 10).
 */
export class SelfUpgrade {
  readonly #parts: SelfUpgradeParts;
  readonly #orders: HandedOrders;
  #watching: Promise<void> | null = null;

  constructor(parts: SelfUpgradeParts) {
    this.#parts = parts;
    this.#orders = new HandedOrders(parts.stateDir);
  }

  /** Whether a command is for the process that upgrades the agent; a CONFIRM stops nothing, the agent does it itself. */
  takes({ upgrade }: Command): boolean {
    return this.owns(upgrade?.binaryName) && upgrade?.operation !== Operation.CONFIRM;
  }

  /** @throws AgentError when it is the agent itself, which would stop in the middle of its own rollback */
  requireOther(binaryName: string): void {
    if (!this.owns(binaryName)) return;
    throw new AgentError(
      'self_upgrade_unavailable',
      "the agent can't be rolled back by itself while it runs: `systemctl stop hoodcloud-agent`, the same command again, `systemctl start hoodcloud-agent`",
    );
  }

  /** Whether an attempt is one on the agent itself. */
  owns(binaryName: string | undefined): boolean {
    return binaryName !== undefined && binaryName === this.#parts.binaryName;
  }

  /** At the agent's start: goes on watching what was handed over, and sees to it that somebody carries it out. */
  async resume(signal: AbortSignal): Promise<void> {
    if ((await this.#orders.order()) === null) return;
    if ((await this.#orders.result()) === null) {
      await this.#startUnit().catch((error: unknown) => {
        this.#parts.log.error({ err: error }, 'the upgrade of the agent is not under way: see the unit of that name');
      });
    }
    this.#watch(signal); // last: it clears away what the unit runs
  }

  /** Whether another process is writing the record of this attempt. */
  async isCarryingOut(attemptId: string): Promise<boolean> {
    return (await this.#orders.order())?.command.upgrade?.attemptId === attemptId;
  }

  /** Hands a command over; what stands in the way is its result, nothing was touched then. */
  async handle(command: Command, signal: AbortSignal): Promise<void> {
    const { reports, log, now } = this.#parts;
    try {
      const order = await this.#orders.order();
      if (order === null) await this.#handOver(command, now() + command.expiresInMs);
      else if (order.command.commandId !== command.commandId) throw underWay(order.command);
      await this.#startUnit();
      this.#watch(signal);
    } catch (error) {
      log.warn({ err: error, command: command.commandId }, 'a command was refused');
      const { attemptId = '', operation = Operation.UNSPECIFIED } = command.upgrade ?? {};
      reports.onResult(refusal({ commandId: command.commandId, attemptId, operation }, describeError(error)));
    }
  }

  async #handOver(command: Command, deadlineAtMs: number): Promise<void> {
    if (!isSea()) {
      throw new AgentError(
        'self_upgrade_unavailable',
        "this agent is a script of this host's Node, which can't be upgraded by a rollout: install the package hoodcloud-agent",
      );
    }
    await this.#orders.create();
    // not from the install path: what lies there may be another version than the one that has proved itself
    await copyDurably('/proc/self/exe', this.#orders.program, { mode: 0o755, uid: 0, gid: 0 });
    await this.#orders.give({ command, deadlineAtMs, installId: await this.#orders.installId() });
  }

  async #startUnit(): Promise<void> {
    const called = await this.#parts.systemctl.run('start', UPGRADE_UNIT, AbortSignal.timeout(START_MS));
    if (called.code === 0) return;
    const order = await this.#orders.order();
    if (order !== null && (await this.#parts.store.load(order.command.upgrade?.attemptId ?? '')) === null) {
      await this.#orders.clear(); // nothing was begun: the refusal is the end of it
    }
    throw new AgentError(
      'self_upgrade_unavailable',
      `${UPGRADE_UNIT} can't be started: ${called.stderr.trim()}; install the package hoodcloud-agent anew`,
    );
  }

  #watch(signal: AbortSignal): void {
    this.#watching ??= this.#untilSettled(signal).finally(() => {
      this.#watching = null;
    });
  }

  async #untilSettled(signal: AbortSignal): Promise<void> {
    const { reports, store, log } = this.#parts;
    while (!signal.aborted) {
      try {
        const result = await this.#orders.result();
        if (result !== null) return await this.#tell(result);
        const order = await this.#orders.order();
        if (order === null) return;
        const { commandId, upgrade } = order.command;
        const record = await store.load(upgrade?.attemptId ?? '');
        const progress = record === null ? null : progressOf(record);
        if (record !== null && progress !== null) reports.onProgress(commandId, record.attemptId, progress);
      } catch (error) {
        log.error({ err: error }, "the upgrade of the agent can't be followed; trying again");
      }
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined); // only the signal ends it early
    }
  }

  /** The record keeps the result until the control plane has it; a refusal left no record, and the command comes again. */
  async #tell(result: CommandResult): Promise<void> {
    await this.#orders.clear();
    this.#parts.reports.onResult(result);
  }
}

function underWay({ upgrade }: Command): AgentError {
  return new AgentError(
    'self_upgrade_under_way',
    `attempt ${upgrade?.attemptId} is upgrading the agent of this host: wait until it has ended`,
  );
}

/** Where the other process is, as its record says. */
function progressOf({ progress }: AttemptRecord): ExecutionProgress | null {
  const undoing = progress.direction === 'undo';
  const step = undoing ? progress.steps.find(({ state }) => state === 'undo_intended') : progress.steps.at(-1);
  if (step === undefined) return null;
  const actionIndex = (UPGRADE_ACTION_NAMES as readonly string[]).indexOf(step.name);
  return {
    actionIndex,
    action: step.name,
    progressPct: Math.floor((100 * actionIndex) / UPGRADE_ACTION_NAMES.length),
    phase: undoing ? 'ROLLBACKING' : phaseOfStep(step.name),
    note: undoing ? `undoing ${step.name}` : '',
  };
}
