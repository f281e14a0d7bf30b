import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hookStepBudgetMs } from '@hoodcloud/domain/activity-budget';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import { askAgainInMs, freeInSeconds, nextWindowText } from '@hoodcloud/domain/node-duty';
import { hookStepName, type VendorHook } from '@hoodcloud/domain/vendor-hook';
import { AgentError } from '../../agent-error.ts';
import { type CommandEnd, lastWords } from '../../host/run-command.ts';
import type { ActionParams, UpgradeAction } from '../action.ts';
import { hookLogName, howItEnded, keepWords } from './vendor-hook.ts';

/**
 * The last step before the stop: a program of the vendor says whether the node is free, and is asked until it is. A node
 * that does not run has no duty to miss. What can't be told is not free: the node stays as it is (ADR 0045).
 */
export function dutyQuestion(hook: VendorHook): UpgradeAction {
  return {
    name: hookStepName(hook),
    timeoutMs: () => hookStepBudgetMs(hook),
    isAlreadyDone: async ({ runtime }) => (await runtime.status()).mainPid === null,
    execute: async (params) => {
      if (params.inDoubt) await params.runtime.hooks.end(hook.name); // the agent that asked it has died
      await askUntilFree(hook, params);
    },
    compensate: ({ runtime }) => runtime.hooks.end(hook.name), // a question changes nothing
  };
}

/** @throws AgentError `hook_failed` when the answer is none, `still_on_duty` when it was "not yet" for too long */
async function askUntilFree(hook: VendorHook, { runtime, backupDir, signal, onProgress }: ActionParams): Promise<void> {
  const { name, command, timeoutMs, askAgain } = hook;
  const { exitCodes = [], longestWaitMs = 0 } = askAgain ?? {};
  const file = join(backupDir, hookLogName(hookStepName(hook), 'step'));
  const began = performance.now();
  for (;;) {
    const end = await runtime.hooks.run({ name, command, timeoutMs }, signal);
    await keepWords(file, command, end);
    if (end.code === 0 && !end.timedOut) return;
    if (!isNotYet(end, exitCodes)) {
      const ended = howItEnded(end, timeoutMs);
      throw new AgentError(
        'hook_failed',
        `whether it is on duty (${name}) is not known: ${command.join(' ')} ${ended}`,
      );
    }
    const freeIn = freeInSeconds(end.output);
    const waitMs = askAgainInMs(freeIn);
    if (performance.now() - began + waitMs > longestWaitMs) throw stillOnDuty(name, longestWaitMs, end.output);
    onProgress(0, `on duty (${name}): ${nextWindowText(freeIn)}, asked again in ${renderDuration(waitMs)}`);
    await sleep(waitMs, undefined, { signal });
  }
}

function isNotYet({ code, timedOut }: CommandEnd, exitCodes: readonly number[]): boolean {
  return timedOut || (code !== null && exitCodes.includes(code));
}

function stillOnDuty(name: string, longestWaitMs: number, output: string): AgentError {
  return new AgentError(
    'still_on_duty',
    `the node was on duty (${name}) for ${renderDuration(longestWaitMs)}, so it was not stopped${lastWords(output)}`,
  );
}
