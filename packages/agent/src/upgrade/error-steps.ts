import { HOOK_END_MS } from '@hoodcloud/domain/activity-budget';
import { hookStepName, type VendorHook } from '@hoodcloud/domain/vendor-hook';
import { describeError } from '../agent-error.ts';
import { runVendorCommand, type VendorRun } from './actions/vendor-hook.ts';
import type { AttemptProgress, StepEntry } from './attempt-progress.ts';
import { withinBudget } from './time-budget.ts';

/** What the steps of the vendor after a failure get; a part of what an execution has. */
export interface ErrorSteps {
  readonly hooks: readonly VendorHook[];
  readonly progress: AttemptProgress;
  readonly run: Omit<VendorRun, 'signal' | 'onProgress'>;
  /** On the disk when it resolves; a record that can't be written stops nothing on the way back. Must not reject. */
  readonly save: () => Promise<void>;
  readonly onProgress: (step: StepEntry['name'], note: string) => void;
  readonly faultPoint: (name: string) => Promise<void>;
  readonly now: () => number;
}

/**
 * Runs the steps of the vendor that follow a failure, each once in an attempt, in their order, before the undo begins
 * (ADR 0046). Whatever becomes of one, of the next too, the undo goes on: the result stands with the step. Never rejects
 * for a step's sake.
 */
export async function runErrorSteps(steps: ErrorSteps): Promise<void> {
  for (const hook of steps.hooks.filter(({ at }) => at === 'on_error')) await runOnce(steps, hook);
}

async function runOnce(steps: ErrorSteps, hook: VendorHook): Promise<void> {
  const { progress, now, save, faultPoint } = steps;
  const name = hookStepName(hook);
  const found = progress.steps.find((step) => step.name === name);
  if (found !== undefined && found.state !== 'intended') return;
  const entry: StepEntry = found ?? { name, state: 'intended', startedAtMs: now(), durationMs: 0, errorMessage: null };
  if (found === undefined) progress.steps.push(entry);
  await save();
  await faultPoint(`before:${name}`);
  try {
    await perform(steps, hook, found !== undefined);
    entry.state = 'executed';
  } catch (error) {
    // of whatever kind: nothing that a vendor's step does, or that runs it, may keep a node down
    Object.assign(entry, { state: 'failed', errorMessage: describeError(error).message });
  }
  entry.durationMs = now() - entry.startedAtMs;
  await save();
  await faultPoint(`after:${name}`);
}

/** @param inDoubt an agent died while it ran */
async function perform({ run, onProgress, faultPoint }: ErrorSteps, hook: VendorHook, inDoubt: boolean): Promise<void> {
  const name = hookStepName(hook);
  await withinBudget(name, hook.timeoutMs + HOOK_END_MS, async (signal) => {
    if (inDoubt) await run.runtime.hooks.end(hook.name);
    if (inDoubt && !hook.repeatable)
      throw new Error(`the agent ended while ${name} ran, and it isn't said to be repeatable`);
    void faultPoint(`during:${name}`);
    const report = (_: number, note: string) => onProgress(name, note);
    await runVendorCommand(hook, hook.command, { ...run, signal, onProgress: report }, 'step');
  });
}
