import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { type CommandResult, CommandResultSchema } from '@hoodcloud/contracts/wire/agent-v1';
import type { OperationOutcome } from '@hoodcloud/domain/agent-operation';
import { confirmationRunsSteps } from '@hoodcloud/domain/vendor-hook';
import { AgentError } from '../agent-error.ts';
import { actionsWith } from './action-list.ts';
import { wentAllTheWay } from './attempt-progress.ts';
import { type AttemptRecord, openOperations, reopen, undoneByHand, unknownAttempt } from './attempt-record.ts';
import { resultOf } from './attempt-result.ts';
import { backupDirOf, type RunEnvironment, runAttempt } from './attempt-run.ts';
import { backupRoot, neededBackups, pruneBackups } from './backup-retention.ts';
import { beginAttempt } from './begin-attempt.ts';
import type { Component } from './component.ts';
import type { ExecutionProgress } from './executor.ts';
import { rebuildLostRecord } from './lost-record.ts';
import { recordedRequest, type UpgradeRequest } from './upgrade-request.ts';

/** Code of an undo that an operator ordered on the host. */
const BY_HAND = 'rolled_back_by_hand';

/** A command that passed its checks, with the component that it is for. */
export interface Order {
  readonly commandId: string;
  readonly deadlineAtMs: number;
  readonly request: UpgradeRequest;
  readonly payload: JsonValue;
  readonly component: Component;
  /** A rollback by hand: the attempt that it takes back. */
  readonly undoes?: string;
  /** The node stopped by itself for this upgrade: how it was found before that. */
  readonly wantedRunning?: boolean;
}

type OnProgress = (commandId: string, attemptId: string, progress: ExecutionProgress) => void;

/** UPGRADE, COMPENSATE and CONFIRM of an attempt, each once (B2). Whoever calls sees to it that one goes at a time. */
export class AttemptOperations {
  readonly #environment: RunEnvironment;
  readonly #onProgress: OnProgress;
  readonly #underWay = new Set<string>();

  constructor(environment: RunEnvironment, onProgress: OnProgress) {
    this.#environment = environment;
    this.#onProgress = onProgress;
  }

  /** @throws AgentError when the order is refused; nothing was touched then */
  async perform(order: Order): Promise<CommandResult> {
    const found = await this.#environment.store.load(order.request.attemptId);
    const again = found?.operations[order.request.operation];
    if (
      found !== null &&
      again?.result &&
      (again.commandId === order.commandId || (await this.#stands(found, order)))
    ) {
      return this.#answerAgain(found, order);
    }
    if (this.#environment.now() >= order.deadlineAtMs) {
      throw new AgentError('expired', 'the command reached this host after its deadline: nothing was begun');
    }
    switch (order.request.operation) {
      case 'UPGRADE':
        return this.#upgrade(order, found);
      case 'COMPENSATE':
        return this.#compensate(order, found);
      case 'CONFIRM':
        return this.#confirm(order, found);
    }
  }

  /** A result is given again only while the host still shows it; a failed undo may be tried again (A5). */
  async #stands(record: AttemptRecord, { request, component }: Order): Promise<boolean> {
    if (record.outcome === 'failed_rollback') return request.operation !== 'COMPENSATE';
    if (request.operation === 'UPGRADE' && record.operations.COMPENSATE !== undefined) return false;
    if (record.outcome !== 'completed') return true;
    const wanted = record.progress.installedChecksum;
    const { installedChecksum, runningChecksum } = await component.runtime.status();
    if (installedChecksum !== wanted) return false;
    if (record.before.wantedRunning && runningChecksum !== wanted) return false;
    const written = request.configFiles
      .filter(({ restoreAttemptId }) => restoreAttemptId === null)
      .map(({ path, checksum }) => component.runtime.isConfigWritten(path, checksum));
    return (await Promise.all(written)).every(Boolean);
  }

  async #answerAgain(record: AttemptRecord, { commandId, request }: Order): Promise<CommandResult> {
    const operation = record.operations[request.operation];
    const result = { ...fromJson(CommandResultSchema, operation?.result ?? {}), commandId };
    if (operation !== undefined) Object.assign(operation, { commandId, acknowledged: false });
    await this.#environment.store.save(record);
    return result;
  }

  async #upgrade(order: Order, found: AttemptRecord | null): Promise<CommandResult> {
    const { request, component, payload } = order;
    const now = this.#environment.now();
    const record =
      found ??
      (await rebuildLostRecord(component, request.attemptId, payload, now)) ??
      (await beginAttempt(order, now));
    if (record.operations.COMPENSATE !== undefined) {
      throw new AgentError('attempt_undone', `attempt ${record.attemptId} was undone: upgrade again by a new attempt`);
    }
    if (record.outcome === 'completed') {
      await this.#requireLatest(record);
      reopen(record); // the host no longer shows what was done
    }
    return this.#run(record, order);
  }

  async #compensate(order: Order, found: AttemptRecord | null): Promise<CommandResult> {
    const { request, component, payload } = order;
    const now = this.#environment.now();
    const record = found ?? (await rebuildLostRecord(component, request.attemptId, payload, now));
    if (record === null) throw unknownAttempt(request.attemptId);
    const byHand = undoneByHand(await this.#environment.store.list(), record.attemptId);
    if (byHand !== undefined) {
      goBackFromHere(record, BY_HAND, `an operator rolled it back on the host by ${byHand.attemptId}`);
      record.outcome = 'rolled_back';
      return this.#run(record, order);
    }
    await this.#requireLatest(record);
    if (record.outcome !== 'rolled_back') goBackFromHere(record);
    return this.#run(record, order);
  }

  /**
   * Undoes an attempt that is open, or whose undo had failed, because an operator on the host says so. The operation that
   * the control plane had commanded is answered with it: its workflow learns what happened.
   */
  async takeBack(record: AttemptRecord, component: Component): Promise<CommandResult> {
    const operation = record.operations.COMPENSATE === undefined ? 'UPGRADE' : 'COMPENSATE';
    const commanded = record.operations[operation];
    if (commanded === undefined) throw unknownAttempt(record.attemptId);
    goBackFromHere(record, BY_HAND, 'an operator ordered the undo on the host');
    const request = { ...recordedRequest(record), operation } as const;
    return this.#run(record, { ...commanded, request, payload: record.payload, component });
  }

  /** Goes on with an attempt that was interrupted, in its direction. */
  async goOn(record: AttemptRecord, component: Component): Promise<CommandResult> {
    const [open] = openOperations(record);
    if (open === undefined) throw unknownAttempt(record.attemptId);
    const [operation, commanded] = open;
    const request = { ...recordedRequest(record), operation };
    return this.resume(record, { ...commanded, request, payload: record.payload, component });
  }

  /** Whether an operation of the attempt is being done at this moment. */
  isUnderWay(attemptId: string): boolean {
    return this.#underWay.has(attemptId);
  }

  /** Undoing an attempt that a later one has built on would bring back what nobody expects. */
  async #requireLatest(record: AttemptRecord): Promise<void> {
    const later = (await this.#environment.store.list()).find(
      (other) =>
        other.binaryName === record.binaryName &&
        other.createdAtMs > record.createdAtMs &&
        other.outcome !== 'rolled_back',
    );
    if (later === undefined) return;
    throw new AgentError('superseded', `attempt ${later.attemptId} came after it: undo that one, or roll back`);
  }

  async #confirm(order: Order, record: AttemptRecord | null): Promise<CommandResult> {
    if (record === null) throw unknownAttempt(order.request.attemptId);
    await this.#finishUnwritten(record, order.component);
    if (record.outcome !== 'completed') {
      throw new AgentError('not_completed', `attempt ${record.attemptId} ended ${record.outcome}: nothing to confirm`);
    }
    const upgrade = recordedRequest(record);
    // a node that was found stopped, and is stopped, has no proof of health for a step to follow
    if (record.before.wantedRunning && confirmationRunsSteps(upgrade.hooks)) {
      const told = await this.#runStepsOfConfirmation(record, order, upgrade);
      if (told !== null) return told;
    }
    await order.component.runtime.confirm(backupDirOf(order.component, record.attemptId));
    record.confirmed = true;
    return this.#settle(record, order, 'completed');
  }

  /**
   * The vendor's steps after the proof of health. One that fails undoes the attempt here and now, as one that fails in the
   * upgrade does; the confirmation is answered with that (ADR 0046).
   * @returns null when all are done
   */
  async #runStepsOfConfirmation(
    record: AttemptRecord,
    order: Order,
    upgrade: UpgradeRequest,
  ): Promise<CommandResult | null> {
    const { commandId, deadlineAtMs, component } = order;
    record.operations.CONFIRM = { commandId, deadlineAtMs, result: null, acknowledged: false };
    const report = (progress: ExecutionProgress) => this.#onProgress(commandId, record.attemptId, progress);
    this.#underWay.add(record.attemptId);
    try {
      const outcome = await runAttempt(this.#environment, component, record, upgrade, report, 'confirmation');
      if (outcome === 'completed') return null;
      record.outcome = outcome;
      return await this.#settle(record, { ...order, request: { ...upgrade, operation: 'CONFIRM' } }, outcome);
    } finally {
      this.#underWay.delete(record.attemptId);
    }
  }

  /**
   * An upgrade whose end could not be written down, on a full disk for one, was told all the same, and who confirms it has
   * heard so: every step is found done, whatever time it is by now.
   */
  async #finishUnwritten(record: AttemptRecord, component: Component): Promise<void> {
    const commanded = record.operations.UPGRADE;
    if (record.outcome !== null || commanded === undefined) return;
    const request = { ...recordedRequest(record), operation: 'UPGRADE' } as const;
    await this.#run(record, { ...commanded, request, payload: record.payload, component });
  }

  /** Runs the attempt in its record's direction and settles the operation. */
  async #run(record: AttemptRecord, order: Order): Promise<CommandResult> {
    this.#underWay.add(record.attemptId);
    try {
      return await this.#runAlone(record, order);
    } finally {
      this.#underWay.delete(record.attemptId);
    }
  }

  async #runAlone(record: AttemptRecord, order: Order): Promise<CommandResult> {
    const { commandId, deadlineAtMs, request, component } = order;
    record.operations[request.operation] = { commandId, deadlineAtMs, result: null, acknowledged: false };
    const report = (progress: ExecutionProgress) => this.#onProgress(commandId, record.attemptId, progress);
    const upgrade = recordedRequest(record);
    if (record.outcome === null)
      record.outcome = await runAttempt(this.#environment, component, record, upgrade, report);
    await this.#environment.faultPoint('before-outcome');
    return this.#settle(record, { ...order, request: { ...upgrade, operation: request.operation } }, record.outcome);
  }

  /** What was done is told, whatever stands in the way of writing it down: a restart would find it done. */
  async #settle(record: AttemptRecord, order: Order, outcome: OperationOutcome): Promise<CommandResult> {
    const { commandId, deadlineAtMs, request, component } = order;
    const { store, log, faultPoint, now } = this.#environment;
    const paths = request.configFiles.map(({ path }) => path);
    const told = { commandId, operation: request.operation, outcome };
    const result = await resultOf(told, record, component.runtime, paths, now());
    const stored = toJson(CommandResultSchema, result);
    record.operations[request.operation] = { commandId, deadlineAtMs, result: stored, acknowledged: false };
    try {
      await store.save(record);
      await this.#forgetOld(component);
    } catch (error) {
      log.error({ err: error, attempt: record.attemptId }, 'the result could not be written to the disk');
    }
    await faultPoint('after-outcome');
    return result;
  }

  /** Old backups and records go; never what an open attempt, a way back or the last good version needs (A13). */
  async #forgetOld(component: Component): Promise<void> {
    const { store, log } = this.#environment;
    const records = (await store.list()).filter(({ binaryName }) => binaryName === component.binaryName);
    const protectedDirs = new Set(neededBackups(records).map((attemptId) => backupDirOf(component, attemptId)));
    const { dataDir, runtime } = component;
    const { removed, stayed } = await pruneBackups(backupRoot(dataDir), protectedDirs, runtime);
    if (removed.length > 0) log.info({ removed }, 'old backups were removed');
    for (const { dir, error } of stayed) log.warn({ err: error, dir }, 'an old backup could not be removed yet');
    await store.prune(component.binaryName);
  }

  /**
   * Goes on with what a crash interrupted, forward or back (A4). A way forward that had reached its end in time is only
   * told: who heard of it, and what confirms it, must not find it undone.
   */
  async resume(record: AttemptRecord, order: Order): Promise<CommandResult> {
    const { operation } = order.request;
    if (operation === 'CONFIRM') return this.#confirm(order, record);
    const { direction } = record.progress;
    const unfinished = direction === 'forward' && !wentAllTheWay(record.progress, actionsWith(order.request.hooks));
    if (operation === 'UPGRADE' && unfinished && this.#environment.now() > order.deadlineAtMs) {
      goBackFromHere(
        record,
        'expired',
        'the command expired while the agent was away, so what it had begun was undone',
      );
    }
    return this.#run(record, order);
  }
}

/** From now on the attempt is undone; an earlier reason stays. */
function goBackFromHere(
  record: AttemptRecord,
  code = 'compensate_ordered',
  message = 'the control plane ordered the undo',
): void {
  record.outcome = null;
  record.progress.direction = 'undo';
  record.progress.failure ??= { code, message, action: null };
}
