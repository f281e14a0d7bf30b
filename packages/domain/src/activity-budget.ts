import type { UpgradeActionName } from './upgrade-phase.ts';
import type { VendorHook } from './vendor-hook.ts';

/** Time each action may take, in milliseconds. */
export type ActionBudgets = Readonly<Record<UpgradeActionName, number>>;

/** Spec "Action Primitives"; a chain's `runtime.yaml` may give others (a node that flushes for minutes, A7). */
export const DEFAULT_ACTION_BUDGETS_MS: ActionBudgets = {
  backup_state: 60_000,
  acquire_artifact: 300_000,
  verify_artifact: 30_000,
  stop_node: 60_000,
  install_artifact: 30_000,
  write_configs: 30_000,
  reload_daemon: 10_000,
  start_node: 30_000,
};

/** For the way of a command and its result, and an agent that restarts in the middle. */
const BUDGET_MARGIN_MS = 60_000;

/** What it takes at most to end a step of the vendor whose time is up. */
export const HOOK_END_MS = 10_000;

/** Never less than the specification's 10 minutes. */
export const MIN_SCHEDULE_TO_CLOSE_MS = 600_000;

/** Sum of the actions' budgets: the longest way forward. */
function forwardBudgetMs(budgets: ActionBudgets): number {
  return Object.values(budgets).reduce((sum, budget) => sum + budget, 0);
}

type BudgetedHook = Pick<VendorHook, 'timeoutMs' | 'undo' | 'askAgain'>;

/** The longest that a step of the vendor takes, in milliseconds: a question about a duty is asked again for a while. */
export function hookStepBudgetMs({ timeoutMs, askAgain }: Pick<VendorHook, 'timeoutMs' | 'askAgain'>): number {
  return timeoutMs + HOOK_END_MS + (askAgain?.longestWaitMs ?? 0);
}

/** Steps of the vendor, each of which may be undone; a little of each goes to ending it. */
function hookBudgetMs(hooks: readonly BudgetedHook[]): number {
  return hooks.reduce((sum, hook) => sum + (hook.undo === null ? 1 : 2) * hookStepBudgetMs(hook), 0);
}

/** The longest undo (A1): stop what was started, put configs and artifact back, then reload and start, always last. */
function undoBudgetMs(budgets: ActionBudgets): number {
  const { stop_node, write_configs, install_artifact, reload_daemon, start_node } = budgets;
  return stop_node + write_configs + install_artifact + reload_daemon + start_node;
}

/**
 * `ScheduleToClose` of the activity that waits for the agent, in milliseconds (B5): forward, undo, margin. With the
 * default budgets about 13 minutes.
 * @param overrides budgets of this chain that differ from the defaults
 */
export function scheduleToCloseMs(overrides: Partial<ActionBudgets> = {}, hooks: readonly BudgetedHook[] = []): number {
  const budgets = { ...DEFAULT_ACTION_BUDGETS_MS, ...overrides };
  const needed = forwardBudgetMs(budgets) + undoBudgetMs(budgets) + hookBudgetMs(hooks) + BUDGET_MARGIN_MS;
  return Math.max(needed, MIN_SCHEDULE_TO_CLOSE_MS);
}
