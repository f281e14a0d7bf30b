import type { CommandResult } from '@hoodcloud/contracts/wire/agent-v1';
import { AgentError } from '../agent-error.ts';
import { backupDirOf } from '../upgrade/attempt-run.ts';
import type { AttemptStore } from '../upgrade/attempt-store.ts';
import type { Component } from '../upgrade/component.ts';
import type { ExecutionProgress } from '../upgrade/executor.ts';
import type { UpgradeHandler } from '../upgrade/upgrade-handler.ts';
import { rollbackOrder } from './rollback-order.ts';
import { planRollback, type RollbackPlan } from './rollback-plan.ts';
import { describeRollback, type RollbackPreview } from './rollback-preview.ts';

export type OnHandProgress = (progress: ExecutionProgress) => void;

/** What an operator agreed to: anything else is not done. */
export interface AgreedRollback {
  readonly kind: RollbackPlan['kind'];
  readonly attemptId: string;
  /** The attempt was named, not chosen. */
  readonly named: boolean;
}

export interface HandOptions {
  readonly store: AttemptStore;
  readonly handler: UpgradeHandler;
  readonly now: () => number;
  /** @throws AgentError for a component that this process can't roll back: itself */
  readonly requireOther?: (binaryName: string) => void;
}

/**
 * What an operator does on the host by hand, carried out by the same handler and executor as the control plane's commands:
 * in the agent's process when it runs, else in the command's own, under the agent's lock.
 */
export class Hand {
  readonly #options: HandOptions;
  readonly #listeners = new Map<string, OnHandProgress>();

  constructor(options: HandOptions) {
    this.#options = options;
  }

  /** What a rollback would do now; changes nothing. */
  async preview(binaryName: string, wanted: string | null): Promise<RollbackPreview> {
    this.#options.requireOther?.(binaryName);
    const component = this.#options.handler.component(binaryName);
    const plan = await this.#plan(component, wanted);
    return describeRollback(plan, component, await this.#records(component));
  }

  /**
   * Rolls back as agreed. Expected trouble on the way is a result.
   * @throws AgentError `changed_meanwhile` when it would do something else by now, and what `planRollback` refuses
   */
  async rollBack(binaryName: string, agreed: AgreedRollback, onProgress: OnHandProgress): Promise<CommandResult> {
    this.#options.requireOther?.(binaryName);
    return this.#options.handler.byHand(binaryName, async (operations, component) => {
      const plan = await this.#plan(component, agreed.named ? agreed.attemptId : null);
      if (plan.kind !== agreed.kind || plan.record.attemptId !== agreed.attemptId) {
        throw new AgentError(
          'changed_meanwhile',
          'something changed on this host meanwhile: look, and roll back again',
        );
      }
      if (plan.kind === 'go_back') {
        const order = rollbackOrder(component, plan.record, plan.configs, this.#options.now());
        return this.#listening(order.request.attemptId, onProgress, () => operations.perform(order));
      }
      const undo = () => operations.takeBack(plan.record, component);
      const finish = () => operations.goOn(plan.record, component);
      return this.#listening(plan.record.attemptId, onProgress, plan.kind === 'finish' ? finish : undo);
    });
  }

  /** Hears the handler's progress of every attempt. */
  onProgress(attemptId: string, progress: ExecutionProgress): void {
    this.#listeners.get(attemptId)?.(progress);
  }

  async #listening<T>(attemptId: string, onProgress: OnHandProgress, work: () => Promise<T>): Promise<T> {
    this.#listeners.set(attemptId, onProgress);
    try {
      return await work();
    } finally {
      this.#listeners.delete(attemptId);
    }
  }

  async #plan(component: Component, wanted: string | null): Promise<RollbackPlan> {
    const plan = planRollback(await this.#records(component), wanted, (id) => this.#options.handler.isUnderWay(id));
    if (plan.kind === 'go_back') await requireBackups(component, plan);
    return plan;
  }

  async #records({ binaryName }: Component) {
    return (await this.#options.store.list()).filter((record) => record.binaryName === binaryName);
  }
}

/** What is to be put back must be there before anybody is asked. */
async function requireBackups(
  component: Component,
  { record, configs }: Extract<RollbackPlan, { kind: 'go_back' }>,
): Promise<void> {
  for (const attemptId of new Set([record.attemptId, ...configs.map((config) => config.attemptId)])) {
    const dir = backupDirOf(component, attemptId);
    if (await component.runtime.isBackedUp(dir)) continue;
    throw new AgentError(
      'backup_gone',
      `the backup ${dir} is gone or not whole any more, so nothing can be put back from it: see \`hoodcloud-agent history\` for other attempts, or upgrade to the version that you want`,
    );
  }
}
