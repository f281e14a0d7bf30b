import { randomUUID } from 'node:crypto';
import { create, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import {
  type CommandResult,
  CommandResultSchema,
  Operation,
  Outcome,
  type UpgradePayload,
  UpgradePayloadSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import { AgentError, describeError } from '../agent-error.ts';
import type { Activation } from './activation-trigger.ts';
import type { Order } from './attempt-operations.ts';
import { refusal, resultOf } from './attempt-result.ts';
import { paramsOfAttempt, type RunEnvironment } from './attempt-run.ts';
import { beginAttempt } from './begin-attempt.ts';
import type { Component } from './component.ts';
import { type ExecutionProgress, execute } from './executor.ts';
import { STAGE_ACTIONS } from './stage-actions.ts';
import type { StagedOrder, StagedOrders } from './staged-orders.ts';
import { readPayload } from './upgrade-request.ts';

/** A STAGE or UNSTAGE that passed its checks. */
export type StageOrder = Omit<Order, 'undoes' | 'wantedRunning'>;

type OnProgress = (commandId: string, attemptId: string, progress: ExecutionProgress) => void;

/**
 * Does ahead what an upgrade needs no stop for, and keeps it on the disk for the UPGRADE to find: it acquires nothing
 * anew then. Nothing of the node is touched. Whoever calls sees to it that one thing goes at a time on a component.
 */
export class Staging {
  readonly #environment: RunEnvironment;
  readonly #orders: StagedOrders;
  readonly #onProgress: OnProgress;

  constructor(environment: RunEnvironment, orders: StagedOrders, onProgress: OnProgress) {
    this.#environment = environment;
    this.#orders = orders;
    this.#onProgress = onProgress;
  }

  /**
   * Said twice it looks again, which is cheap. What was staged before for another attempt is removed. Why the node is not
   * ready is the result; nothing is left of it on the disk then.
   * @throws AgentError `already_begun`, `host_unsettled`
   */
  async stage(order: StageOrder): Promise<CommandResult> {
    const { commandId, request, component, payload } = order;
    const { attemptId, binaryName } = request;
    await this.#refuseBegun(attemptId);
    const found = await this.#orders.of(binaryName);
    if (found !== null && found.attemptId !== attemptId) await this.#discard(found, component);
    await this.#orders.forget(binaryName); // until it is proved again, nothing is
    const record = await beginAttempt(order, this.#environment.now());
    const outcome = await execute({
      actions: STAGE_ACTIONS,
      params: await paramsOfAttempt(this.#environment, component, record, request),
      progress: record.progress,
      save: async () => undefined, // after a crash it is done again from its beginning
      onSaveFailed: () => undefined,
      beforeUndo: async () => undefined,
      onProgress: (progress) => this.#onProgress(commandId, attemptId, progress),
      faultPoint: this.#environment.faultPoint,
      now: this.#environment.now,
    });
    const { failure, installedChecksum } = record.progress;
    if (outcome !== 'completed' || installedChecksum === null) {
      const why = failure ?? describeError(new Error('what was acquired has no checksum'));
      return refusal({ commandId, attemptId, operation: Operation.STAGE }, why);
    }
    const { wantedRunning } = record.before;
    const stagedAtMs = this.#environment.now();
    await this.#orders.keep({
      format: 1,
      attemptId,
      binaryName,
      payload,
      installedChecksum,
      wantedRunning,
      stagedAtMs,
    });
    const told = { commandId, operation: 'STAGE', outcome } as const;
    const result = await resultOf(told, record, component.runtime, [], stagedAtMs);
    return { ...result, installedChecksum };
  }

  /** Forgets it first, so that nothing can carry it out any more. Done when nothing is staged for the attempt. */
  async unstage({ commandId, request, component }: StageOrder): Promise<CommandResult> {
    const { attemptId } = request;
    await this.#refuseBegun(attemptId);
    const found = await this.#orders.of(request.binaryName);
    if (found?.attemptId === attemptId) await this.#discard(found, component);
    const told = { commandId, attemptId, operation: Operation.UNSTAGE, outcome: Outcome.COMPLETED };
    return create(CommandResultSchema, told);
  }

  /** The payload of an UPGRADE with what staging learned of its artifact: a member of an archive is found by that (A6). */
  async withLearned(payload: UpgradePayload): Promise<UpgradePayload> {
    const staged = await this.#orders.of(payload.binaryName);
    if (staged === null || payload.artifact === undefined || payload.artifact.installedChecksum !== '') return payload;
    const { artifact } = fromJson(UpgradePayloadSchema, staged.payload);
    const same = artifact?.checksum === payload.artifact.checksum && artifact.member === payload.artifact.member;
    if (!same) return payload;
    return { ...payload, artifact: { ...payload.artifact, installedChecksum: staged.installedChecksum } };
  }

  /** Whether an order still stands as it was read: it may have been taken back, or disarmed, a moment ago. */
  async stillArmed(order: StagedOrder): Promise<boolean> {
    const now = await this.#orders.of(order.binaryName);
    return now?.attemptId === order.attemptId && now.stagedAtMs === order.stagedAtMs && activationOf(now) !== null;
  }

  /** An upgrade of the component has ended: what was staged is installed, or of no use any more. */
  async used(component: Component): Promise<void> {
    const staged = await this.#orders.of(component.binaryName);
    if (staged === null) return;
    if (!(await component.runtime.isArtifactInstalled(staged.installedChecksum)))
      return this.#discard(staged, component);
    await this.#orders.forget(component.binaryName);
  }

  async #discard({ binaryName, payload }: StagedOrder, { runtime }: Component): Promise<void> {
    await this.#orders.forget(binaryName);
    await runtime.discardArtifact(readPayload(fromJson(UpgradePayloadSchema, payload)).artifact);
  }

  async #refuseBegun(attemptId: string): Promise<void> {
    if ((await this.#environment.store.load(attemptId)) === null) return;
    throw new AgentError(
      'already_begun',
      `attempt ${attemptId} has begun on this host already: its own result says how it ends`,
    );
  }
}

/** When the agent is to carry a staged order out by itself; null: it waits for its command. */
export function activationOf({ payload, stagedAtMs }: StagedOrder): Activation | null {
  const { activation } = fromJson(UpgradePayloadSchema, payload);
  if (activation === undefined) return null;
  const { height, planName, heightMetric, lapseAfterSeconds } = activation;
  const lapsesAtMs = lapseAfterSeconds === 0 ? null : stagedAtMs + lapseAfterSeconds * 1000;
  return { height: Number(height), planName: planName || null, heightMetric: heightMetric || null, lapsesAtMs };
}

/** The payload of the UPGRADE that a STAGE is for, as it is kept. */
export function upgradeOf(payload: UpgradePayload): JsonValue {
  return toJson(UpgradePayloadSchema, { ...payload, operation: Operation.UPGRADE });
}

/** Tells, unasked, that a node stopped for another plan than the one it is armed for. */
export function otherPlan({ attemptId }: StagedOrder, message: string): CommandResult {
  const named = { commandId: randomUUID(), attemptId, operation: Operation.STAGE };
  return refusal(named, { code: 'other_plan', message });
}
