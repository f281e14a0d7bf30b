import type { ActionParams, UpgradeAction } from '../action.ts';
import { ensureStopped } from './ensure-stopped.ts';

/** Writes the configs that the control plane rendered. */
export const writeConfigs: UpgradeAction = {
  name: 'write_configs',
  timeoutMs: ({ budgets }) => budgets.configsMs,
  isAlreadyDone: async (params) => (await unwritten(params)).length === 0,
  execute: async (params) => {
    await ensureStopped(params);
    for (const { path, content } of await unwritten(params)) {
      params.signal.throwIfAborted();
      await params.runtime.writeConfig(path, content);
    }
  },
  // every file, not only those that were written: which ones is in doubt after a failure or a crash (A2)
  compensate: async ({ runtime, backupDir, configFiles }) => {
    for (const { path } of configFiles) await runtime.restoreConfig(backupDir, path);
  },
};

async function unwritten({ runtime, configFiles }: ActionParams): Promise<ActionParams['configFiles']> {
  const written = await Promise.all(configFiles.map(({ path, checksum }) => runtime.isConfigWritten(path, checksum)));
  return configFiles.filter((_, index) => !written[index]);
}
