import type { UpgradeAction } from '../action.ts';

/** Makes the runtime read changed definitions. */
export const reloadDaemon: UpgradeAction = {
  name: 'reload_daemon',
  timeoutMs: ({ budgets }) => budgets.reloadMs,
  // safe to repeat
  isAlreadyDone: async () => false,
  leavesNothingInDoubt: () => true,
  execute: ({ runtime, signal }) => runtime.reloadDaemon(signal),
  // a reload here would read the new files: they are put back only after this, in reverse order. The undo of
  // stop_node reloads when all is back (A1)
  compensate: async () => undefined,
};
