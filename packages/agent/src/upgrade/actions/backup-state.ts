import { AgentError } from '../../agent-error.ts';
import type { ActionParams, UpgradeAction } from '../action.ts';
import { reportDrift } from '../config-drift.ts';

/** Copies binary and configs away, after making sure that nobody's edits would be lost. */
export const backupState: UpgradeAction = {
  name: 'backup_state',
  timeoutMs: ({ budgets }) => budgets.backupMs,
  isAlreadyDone: ({ runtime, backupDir }) => runtime.isBackedUp(backupDir),
  execute: async (params) => {
    await checkBeforeBackup(params);
    const { runtime, backupDir, configFiles, signal } = params;
    await runtime.backupState(
      backupDir,
      configFiles.map(({ path }) => path),
      signal,
    );
  },
  // the backup is kept: it is what an operator investigates with (spec "Action Primitives")
  compensate: async () => undefined,
};

/** Whatever would refuse the backup, without making one. @throws AgentError `config_drift`, `backup_gone` */
export async function checkBeforeBackup(params: ActionParams): Promise<void> {
  await reportDrift(params);
  await refuseLostBackup(params);
}

/** What is to be put back must be there before anything is stopped. */
async function refuseLostBackup({ runtime, configFiles }: ActionParams): Promise<void> {
  for (const { path, restoreFrom } of configFiles) {
    if (restoreFrom === undefined || (await runtime.isBackedUp(restoreFrom))) continue;
    throw new AgentError(
      'backup_gone',
      `${path} can't be put back: the backup ${restoreFrom} is not whole any more; upgrade with the configs that you want instead`,
    );
  }
}
