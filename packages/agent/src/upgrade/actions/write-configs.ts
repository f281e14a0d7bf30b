import type { ActionParams, UpgradeAction } from '../action.ts';
import { ensureStopped } from './ensure-stopped.ts';

/** Writes the configs that the control plane rendered, or puts them back as an earlier attempt found them (C3). */
export const writeConfigs: UpgradeAction = {
  name: 'write_configs',
  timeoutMs: ({ budgets }) => budgets.configsMs,
  leavesNothingInDoubt: ({ configFiles }) => configFiles.length === 0,
  isAlreadyDone: async (params) => (await unwritten(params)).length === 0,
  execute: async (params) => {
    await ensureStopped(params);
    for (const { path, content, restoreFrom } of await unwritten(params)) {
      params.signal.throwIfAborted();
      if (restoreFrom !== undefined) await params.runtime.restoreConfig(restoreFrom, path);
      else await params.runtime.writeConfig(path, content);
    }
  },
  // every file, not only those that were written: which ones is in doubt after a failure or a crash (A2)
  compensate: async ({ runtime, backupDir, configFiles }) => {
    for (const { path } of configFiles) await runtime.restoreConfig(backupDir, path);
  },
};

async function unwritten({ runtime, configFiles }: ActionParams): Promise<ActionParams['configFiles']> {
  // what is put back is put back again: the backup says whether there was such a file at all, a checksum doesn't
  const written = await Promise.all(
    configFiles.map(({ path, checksum, restoreFrom }) =>
      restoreFrom === undefined ? runtime.isConfigWritten(path, checksum) : false,
    ),
  );
  return configFiles.filter((_, index) => !written[index]);
}
