import { randomUUID } from 'node:crypto';
import { create, fromJson, toJson } from '@bufbuild/protobuf';
import { type Command, type CommandResult, Operation, UpgradePayloadSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { AgentError, describeError } from '../agent-error.ts';
import { AttemptOperations } from './attempt-operations.ts';
import { type AttemptRecord, openOperations } from './attempt-record.ts';
import { refusal } from './attempt-result.ts';
import type { RunEnvironment } from './attempt-run.ts';
import type { Component } from './component.ts';
import type { ExecutionProgress } from './executor.ts';
import type { StagedOrder } from './staged-orders.ts';
import { type Staging, upgradeOf } from './staging.ts';
import { readCommand, readPayload, recordedRequest, type UpgradeRequest } from './upgrade-request.ts';

/** Past it, what a crash interrupted of a swap at a height goes back, not forward. */
const ACTIVATION_MS = 3_600_000;

/** What the handler tells while it works; results are on the disk before they are told. */
export interface HandlerReports {
  readonly onProgress: (commandId: string, attemptId: string, progress: ExecutionProgress) => void;
  readonly onResult: (result: CommandResult) => void;
}

/**
 * Carries out UPGRADE, COMPENSATE and CONFIRM, each once per attempt (B2), one at a time per component, and after a
 * restart goes on with what the records say was under way (A4).
 */
export class UpgradeHandler {
  readonly #environment: RunEnvironment;
  readonly #components: ReadonlyMap<string, Component>;
  readonly #operations: AttemptOperations;
  readonly #reports: HandlerReports;
  /** Null: this process makes nothing ready ahead. */
  readonly #staging: Staging | null;
  /** End of each component's queue. */
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #configPaths = new Map<string, ReadonlySet<string>>();

  constructor(
    environment: RunEnvironment,
    components: readonly Component[],
    reports: HandlerReports,
    staging: Staging | null = null,
  ) {
    this.#environment = environment;
    this.#components = new Map(components.map((component) => [component.binaryName, component]));
    this.#operations = new AttemptOperations(environment, reports.onProgress);
    this.#reports = reports;
    this.#staging = staging;
  }

  /** Carries a command out, or refuses it, and reports its result. Expected trouble is a result; it rejects for bugs only. */
  async handle(command: Command): Promise<void> {
    const deadlineAtMs = this.#environment.now() + command.expiresInMs;
    this.#reports.onResult(await this.#answer(command, deadlineAtMs));
  }

  /**
   * At start-up, before any command: puts what a crash interrupted at the head of each component's queue, and resolves
   * when that is done; the work itself goes on, and its results are reported.
   * @param isOurs false for attempts that another process carries out
   */
  async resume(isOurs: (record: AttemptRecord) => boolean = () => true): Promise<void> {
    const records = await this.#environment.store.list();
    for (const record of records) this.#remember(record.binaryName, recordedRequest(record));
    for (const record of records.toReversed()) {
      if (openOperations(record).length > 0 && isOurs(record)) this.#resumeOne(record);
    }
  }

  /**
   * Carries a staged order out because its height has come; a result is reported like any other, though no command asked for
   * it: the UPGRADE that follows finds it done (B2). Does nothing when the order was taken back meanwhile.
   */
  async activate(order: StagedOrder): Promise<void> {
    const component = this.component(order.binaryName);
    const staging = this.#staging;
    if (staging === null) return;
    const result = await this.#inTurn(component, async () => {
      if (!(await staging.stillArmed(order))) return null;
      const payload = await staging.withLearned(fromJson(UpgradePayloadSchema, order.payload));
      const request = readPayload(payload);
      this.#remember(component.binaryName, request);
      const done = await this.#operations.perform({
        commandId: randomUUID(),
        deadlineAtMs: this.#environment.now() + ACTIVATION_MS,
        request,
        payload: toJson(UpgradePayloadSchema, payload),
        component,
        wantedRunning: order.wantedRunning,
      });
      await staging.used(component);
      return done;
    });
    if (result !== null) this.#reports.onResult(result);
  }

  /** Resolves when nothing is queued any more, however it ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#queues.values());
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

  /**
   * Does what an operator orders on the host itself, in the component's turn; its result is reported like any other.
   * @throws AgentError `unknown_component`, and whatever `work` refuses
   */
  async byHand(
    binaryName: string,
    work: (operations: AttemptOperations, component: Component) => Promise<CommandResult>,
  ): Promise<CommandResult> {
    const component = this.component(binaryName);
    const result = await this.#inTurn(component, () => work(this.#operations, component));
    this.#reports.onResult(result);
    return result;
  }

  /** @throws AgentError `unknown_component` */
  component(binaryName: string): Component {
    const component = this.#components.get(binaryName);
    if (component !== undefined) return component;
    const known = [...this.#components.keys()].join(', ') || 'none';
    throw new AgentError('unknown_component', `this host has no component "${binaryName}"; its agent knows: ${known}`);
  }

  /** Whether an operation of the attempt is being done at this moment. */
  isUnderWay(attemptId: string): boolean {
    return this.#operations.isUnderWay(attemptId);
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
      if (named.operation === Operation.STAGE || named.operation === Operation.UNSTAGE) {
        return await this.#stage(command, deadlineAtMs);
      }
      const request = readCommand(command);
      const component = this.#componentFor(request);
      const sent = upgrade ?? create(UpgradePayloadSchema);
      this.#remember(component.binaryName, request);
      return await this.#inTurn(component, async () => {
        const known = request.operation === 'UPGRADE' ? await this.#staging?.withLearned(sent) : sent;
        const payload = toJson(UpgradePayloadSchema, known ?? sent);
        const result = await this.#operations.perform({ commandId, deadlineAtMs, request, payload, component });
        if (request.operation === 'UPGRADE') await this.#staging?.used(component);
        return result;
      });
    } catch (error) {
      this.#environment.log.warn({ err: error, command: commandId }, 'a command was refused');
      return refusal(named, describeError(error));
    }
  }

  async #stage(command: Command, deadlineAtMs: number): Promise<CommandResult> {
    const { commandId, upgrade } = command;
    const staging = this.#staging;
    if (staging === null || upgrade === undefined) {
      throw new AgentError('staging_unavailable', 'this process makes no upgrade ready ahead: send its UPGRADE');
    }
    const payload = upgradeOf(upgrade);
    const request = readPayload(fromJson(UpgradePayloadSchema, payload));
    const component = this.#componentFor(request);
    const order = { commandId, deadlineAtMs, request, payload, component };
    const isStage = upgrade.operation === Operation.STAGE;
    return this.#inTurn(component, () => (isStage ? staging.stage(order) : staging.unstage(order)));
  }

  #componentFor({ binaryName, artifactKind, hooks }: UpgradeRequest): Component {
    const component = this.component(binaryName);
    const { runtime } = component;
    for (const { command, undo } of hooks) for (const words of [command, undo ?? command]) runtime.hooks.check(words);
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
        const request = { ...recordedRequest(record), operation };
        const order = { commandId, deadlineAtMs, request, payload: record.payload, component };
        const result = await this.#operations.resume(record, order);
        if (operation === 'UPGRADE') await this.#staging?.used(component);
        this.#reports.onResult(result);
      }
    });
    // the record stays open, and the next start of the agent tries again
    resumed.catch((error: unknown) => log.error({ err: error, attempt }, 'an attempt could not be resumed'));
  }
}
