import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../agent-error.ts';
import { writeWithFolders } from '../conformance.ts';
import type { ConformanceService } from '../contract/contract-sentence.ts';

export type ServiceConfigs = Pick<
  ConformanceService,
  'configPath' | 'newConfigPath' | 'forbiddenPath' | 'readConfig' | 'backupDir'
> & { readonly configRoot: string };

/** The configs and the backup folder of a service under test, laid into its own folder; the same for every real runtime. */
export async function layServiceConfigs(folder: string): Promise<ServiceConfigs> {
  const configRoot = join(folder, 'config');
  const configPath = join(configRoot, 'config.toml');
  await writeWithFolders(configPath, 'peers = 10\n', 0o640);
  return {
    configRoot,
    configPath,
    newConfigPath: join(configRoot, 'new.toml'),
    forbiddenPath: join(folder, 'elsewhere.toml'),
    readConfig: readConfigFile,
    backupDir: join(folder, 'data', '.upgrade-backup', 'attempt-1'),
  };
}

async function readConfigFile(path: string): Promise<{ content: string; mode: number } | null> {
  try {
    return { content: await readFile(path, 'utf8'), mode: (await stat(path)).mode & 0o7777 };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
