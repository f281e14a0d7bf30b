import { readFile, rm, stat } from 'node:fs/promises';
import { errnoOf } from '../agent-error.ts';
import { replaceFile } from '../host/atomic-file.ts';
import { confinePath } from '../host/confined-path.ts';
import { checksumOf, hashFileIfThere } from '../host/file-hash.ts';
import { isBackupWhole } from '../upgrade/backup-manifest.ts';
import { requireBackup, restoreFile } from './file-backup.ts';
import { RuntimeError } from './runtime-adapter.ts';

/**
 * What every adapter does with the node's config files, whatever its artifact is: the base of `FileAdapter`, and of an
 * adapter whose artifact is an image. The contract of the methods is `RuntimeAdapter`'s.
 */
export abstract class ConfigFileAdapter {
  readonly #configRoots: readonly string[];

  /** @param configRoots folders of this host in which configs may be written (A9) */
  constructor(configRoots: readonly string[]) {
    this.#configRoots = configRoots;
  }

  /** Unless a runtime knows more, nothing stands in the way. */
  async requireReady(): Promise<void> {
    return;
  }

  /** Unless a runtime knows more, nothing surprises. */
  async warnings(): Promise<readonly string[]> {
    return [];
  }

  async writeConfig(path: string, content: Uint8Array): Promise<void> {
    await replaceFile(await this.confine(path), content, 'all_of_replaced');
    if (!(await this.isConfigWritten(path, checksumOf(content)))) {
      throw new RuntimeError('config_not_written', `${path} was written but reads back differently: check the disk`);
    }
  }

  async isConfigWritten(path: string, expectedChecksum: string): Promise<boolean> {
    return (await this.configChecksum(path)) === expectedChecksum;
  }

  async configChecksum(path: string): Promise<string | null> {
    return hashFileIfThere(await this.confine(path));
  }

  async readConfig(path: string, maxBytes: number): Promise<Uint8Array | null> {
    try {
      const target = await this.confine(path);
      return (await stat(target)).size > maxBytes ? null : await readFile(target);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  async restoreConfig(backupDir: string, path: string): Promise<void> {
    const file = (await requireBackup(backupDir)).configs.find((config) => config.path === path);
    if (file === undefined) {
      throw new RuntimeError('backup_corrupt', `the backup ${backupDir} knows nothing of ${path}`);
    }
    await restoreFile(backupDir, file);
  }

  isBackedUp(backupDir: string): Promise<boolean> {
    return isBackupWhole(backupDir);
  }

  removeBackup(backupDir: string): Promise<void> {
    return rm(backupDir, { recursive: true, force: true });
  }

  /**
   * The real file behind a config's path.
   * @throws HostError `path_refused` when it is outside the roots or of a refused name (A9)
   */
  protected confine(path: string): Promise<string> {
    return confinePath(path, this.#configRoots);
  }
}
