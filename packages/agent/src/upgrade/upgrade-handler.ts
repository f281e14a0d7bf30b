import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import {
  type Command,
  type CommandResult,
  CommandResultSchema,
  Operation,
  type UpgradePayload,
  UpgradePayloadSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import type { AgentOperation, OperationOutcome } from '@hoodcloud/domain/agent-operation';
import { AgentError, describeError } from '../agent-error.ts';
import { newProgress } from './attempt-progress.ts';
import { type AttemptRecord, openOperations } from './attempt-record.ts';
import { refusal, resultOf } from './attempt-result.ts';
import { backupDirOf, type RunEnvironment, runAttempt } from './attempt-run.ts';
import { backupRoot, pruneBackups } from './backup-retention.ts';
import type { Component } from './component.ts';
import type { ExecutionProgress } from './executor.ts';
import { rebuildLostRecord } from './lost-record.ts';
import { readCommand, readPayload, type UpgradeRequest } from './upgrade-request.ts';

/** What the handler tells while it works; results are on the disk before they are told. */
export interface HandlerReports {
  readonly onProgress: (commandId: string, attemptId: string, progress: ExecutionProgress) => void;
  readonly onResult: (result: CommandResult) => void;
}

interface Order {
  readonly commandId: string;
  readonly deadlineAtMs: number;
  readonly request: UpgradeRequest;
  readonly payload: JsonValue;
  readonly component: Component;
}

/**
 * Carries out UPGRADE, COMPENSATE and CONFIRM, each once per attempt (B2), one at a time per component, and after a
 * restart goes on with what the records say was under way (A4).
 */
export class UpgradeHandler {
  readonly #environment: RunEnvironment;
  readonly #components: ReadonlyMap<string, Component>;
  readonly #reports: HandlerReports;
  /** End of each component's queue. */
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #configPaths = new Map<string, ReadonlySet<string>>();

  constructor(environment: RunEnvironment, components: readonly Component[], reports: HandlerReports) {
    this.#environment = environment;
    this.#components = new Map(components.map((component) => [component.binaryName, component]));
    this.#reports = reports;
  }

  /** Carries a command out, or refuses it, and reports its result. Expected trouble is a result; it rejects for bugs only. */
  async handle(command: Command): Promise<void> {
    const deadlineAtMs = this.#environment.now() + command.expiresInMs;
    this.#reports.onResult(await this.#answer(command, deadlineAtMs));
  }

  /**
   * At start-up, before any command: puts what a crash interrupted at the head of each component's queue, and resolves
   * when that is done; the work itself goes on, and its results are reported.
   */
  async resume(): Promise<void> {
    const records = await this.#environment.store.list();
    for (const record of records) this.#remember(record.binaryName, readPayload(payloadOf(record)));
    for (const record of records.toReversed()) if (openOperations(record).length > 0) this.#resumeOne(record);
  }

  /** The control plane has stored a result; waits for its turn, since another operation may be writing the record. */
  async acknowledge({ attemptId, operation, commandId }: CommandResult): Promise<void> {
    const record = await this.#environment.store.load(attemptId);
    const component = record === null ? undefined : this.#components.get(record.binaryName);
    if (component === undefined) return; // a refused command leaves no record
    await this.#inTurn(component, async () => {
      const latest = await this.#environment.store.load(attemptId);
      const settled = Object.entries(latest?.operations ?? {}).find(([name]) => name === Operation[operation])?.[1];
      if (latest === null || settled?.commandId !== commandId) return;
      settled.acknowledged = true;
      await this.#environment.store.save(latest);
    });
  }

  /** Every config that an upgrade of this component ever wrote, or will write in the one under way. */
  configPathsOf(binaryName: string): readonly string[] {
    return [...(this.#configPaths.get(binaryName) ?? [])];
  }

  #remember(binaryName: string, { configFiles }: UpgradeRequest): void {
    const known = this.#configPaths.get(binaryName) ?? new Set();
    this.#configPaths.set(binaryName, new Set([...known, ...configFiles.map(({ path }) => path)]));
  }

  async #answer(command: Command, deadlineAtMs: number): Promise<CommandResult> {
    const { commandId, upgrade } = command;
    const named = {
      commandId,
      attemptId: upgrade?.attemptId ?? '',
      operation: upgrade?.operation ?? Operation.UNSPECIFIED,
    };
    try {
      const request = readCommand(command);
      const component = this.#componentFor(request);
      const payload = toJson(UpgradePayloadSchema, upgrade ?? fromJson(UpgradePayloadSchema, {}));
      const order = { commandId, deadlineAtMs, request, payload, component };
      return await this.#inTurn(component, () => this.#perform(order));
    } catch (error) {
      this.#environment.log.warn({ err: error, command: commandId }, 'a command was refused');
      return refusal(named, describeError(error));
    }
  }

  #componentFor({ binaryName, artifactKind }: UpgradeRequest): Component {
    const component = this.#components.get(binaryName);
    if (component === undefined) {
      const known = [...this.#components.keys()].join(', ') || 'none';
      throw new AgentError(
        'unknown_component',
        `this host has no component "${binaryName}"; its agent knows: ${known}`,
      );
    }
    const { runtime } = component;
    if (runtime.artifactKind !== artifactKind) {
      throw new AgentError(
        'runtime_mismatch',
        `${binaryName} runs under ${runtime.runtimeType} here and takes a ${runtime.artifactKind}, not a ${artifactKind}: the agent's file is right about its host`,
      );
    }
    return component;
  }

  async #inTurn<T>(component: Component, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(component.binaryName) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(work); // who asked earlier has been told of his own failure
    this.#queues.set(component.binaryName, turn);
    return turn;
  }

  async #perform(order: Order): Promise<CommandResult> {
    const found = await this.#environment.store.load(order.request.attemptId);
    const again = found?.operations[order.request.operation];
    if (
      found !== null &&
      again?.result &&
      (again.commandId === order.commandId || (await this.#stands(found, order)))
    ) {
      return this.#answerAgain(found, order);
    }
    if (this.#environment.now() > order.deadlineAtMs) {
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
      found ?? (await rebuildLostRecord(component, request.attemptId, payload, now)) ?? (await this.#begin(order));
    if (record.operations.COMPENSATE !== undefined) {
      throw new AgentError('attempt_undone', `attempt ${record.attemptId} was undone: upgrade again by a new attempt`);
    }
    if (record.outcome === 'completed') {
      await this.#requireLatest(record);
      reopen(record); // the host no longer shows what was done
    }
    return this.#run(record, order);
  }

  async #begin({ request, component, payload }: Order): Promise<AttemptRecord> {
    const { held, ...before } = await component.runtime.status();
    if (held) {
      throw new AgentError(
        'host_unsettled',
        `${component.runtime.serviceName()} is still held down by an earlier attempt that could not be undone: repair it, start it, then try again`,
      );
    }
    const { wantedRunning, mainPid, mainPidStartedAt, installedChecksum, runningChecksum } = before;
    return {
      format: 1,
      attemptId: request.attemptId,
      binaryName: request.binaryName,
      payload,
      before: { wantedRunning, mainPid, mainPidStartedAt, installedChecksum, runningChecksum },
      progress: newProgress(),
      outcome: null,
      operations: {},
      logTail: [],
      confirmed: false,
      createdAtMs: this.#environment.now(),
    };
  }

  async #compensate(order: Order, found: AttemptRecord | null): Promise<CommandResult> {
    const { request, component, payload } = order;
    const now = this.#environment.now();
    const record = found ?? (await rebuildLostRecord(component, request.attemptId, payload, now));
    if (record === null) throw unknownAttempt(request.attemptId);
    await this.#requireLatest(record);
    if (record.outcome !== 'rolled_back') goBackFromHere(record);
    return this.#run(record, order);
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
    if (record.outcome !== 'completed') {
      throw new AgentError('not_completed', `attempt ${record.attemptId} ended ${record.outcome}: nothing to confirm`);
    }
    const { component } = order;
    await component.runtime.confirm(backupDirOf(component, record.attemptId));
    record.confirmed = true;
    await this.#removeOldBackups(component, record);
    const result = await this.#settle(record, order, 'completed');
    await this.#environment.store.prune(record.binaryName);
    return result;
  }

  /** Never those of open attempts, nor the one that the last good version came from (A13). */
  async #removeOldBackups(component: Component, confirmed: AttemptRecord): Promise<void> {
    const records = (await this.#environment.store.list()).filter((r) => r.binaryName === component.binaryName);
    const unsettled = records.filter((record) => record.outcome === null || record.outcome === 'failed_rollback');
    const needed = [confirmed, ...unsettled].map((record) => backupDirOf(component, record.attemptId));
    const removed = await pruneBackups(backupRoot(component.dataDir), new Set(needed));
    if (removed.length > 0) this.#environment.log.info({ removed }, 'old backups were removed');
  }

  /** Runs the attempt in its record's direction and settles the operation. */
  async #run(record: AttemptRecord, order: Order): Promise<CommandResult> {
    const { commandId, deadlineAtMs, request, component } = order;
    record.operations[request.operation] = { commandId, deadlineAtMs, result: null, acknowledged: false };
    const report = (progress: ExecutionProgress) => this.#reports.onProgress(commandId, record.attemptId, progress);
    const upgrade = readPayload(payloadOf(record));
    this.#remember(record.binaryName, upgrade);
    if (record.outcome === null)
      record.outcome = await runAttempt(this.#environment, component, record, upgrade, report);
    await this.#environment.faultPoint('before-outcome');
    return this.#settle(record, { ...order, request: { ...upgrade, operation: request.operation } }, record.outcome);
  }

  async #settle(record: AttemptRecord, order: Order, outcome: OperationOutcome): Promise<CommandResult> {
    const { commandId, deadlineAtMs, request, component } = order;
    const paths = request.configFiles.map(({ path }) => path);
    const told = { commandId, operation: request.operation, outcome };
    const result = await resultOf(told, record, component.runtime, paths, this.#environment.now());
    const stored = toJson(CommandResultSchema, result);
    record.operations[request.operation] = { commandId, deadlineAtMs, result: stored, acknowledged: false };
    await this.#environment.store.save(record);
    await this.#environment.faultPoint('after-outcome');
    return result;
  }

  #resumeOne(record: AttemptRecord): void {
    const { log } = this.#environment;
    const attempt = record.attemptId;
    const component = this.#components.get(record.binaryName);
    if (component === undefined) {
      log.error(
        { attempt, component: record.binaryName },
        'an open attempt is of a component that is configured no more',
      );
      return;
    }
    const resumed = this.#inTurn(component, async () => {
      for (const [operation, { commandId, deadlineAtMs }] of openOperations(record)) {
        log.info({ attempt, operation }, 'going on after a restart');
        const request = { ...readPayload(payloadOf(record)), operation };
        const order = { commandId, deadlineAtMs, request, payload: record.payload, component };
        this.#reports.onResult(await this.#resumeOperation(record, order, operation));
      }
    });
    // the record stays open, and the next start of the agent tries again
    resumed.catch((error: unknown) => log.error({ err: error, attempt }, 'an attempt could not be resumed'));
  }

  async #resumeOperation(record: AttemptRecord, order: Order, operation: AgentOperation): Promise<CommandResult> {
    if (operation === 'CONFIRM') return this.#confirm(order, record);
    const expired = this.#environment.now() > order.deadlineAtMs;
    if (operation === 'UPGRADE' && expired && record.progress.direction === 'forward') {
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

/** Every step is in doubt again: the host is asked, and what was ours stays ours to undo. */
function reopen(record: AttemptRecord): void {
  record.outcome = null;
  for (const step of record.progress.steps) if (step.state === 'executed') step.state = 'intended';
}

function payloadOf({ payload }: AttemptRecord): UpgradePayload {
  return fromJson(UpgradePayloadSchema, payload);
}

function unknownAttempt(attemptId: string): AgentError {
  return new AgentError('unknown_attempt', `this host knows nothing of attempt ${attemptId}: it never began here`);
}
