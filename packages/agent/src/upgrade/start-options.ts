import type { StartOptions } from '../runtime/runtime-adapter.ts';
import type { ActionBudgets } from './action.ts';

/** What a start may take and use up, the same for the new version and for the old one in an undo. */
export function startOptions({ stableMs, toleratedRestarts }: ActionBudgets, signal: AbortSignal): StartOptions {
  return { signal, stableMs, toleratedRestarts };
}
