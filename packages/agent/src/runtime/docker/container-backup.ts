import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile, syncFolder } from '../../host/atomic-file.ts';
import { checksumOf } from '../../host/file-hash.ts';
import { explainingHostErrors, HostError } from '../../host/host-error.ts';
import { namesInFolder, readTextIfThere } from '../../host/read-if-there.ts';
import { BACKUP_FILE_MODE } from '../../upgrade/backup-manifest.ts';
import type { ContainerView, ImageView } from './engine.ts';

/** A container as it was before an attempt, and the image that it was made from: enough to make it anew. */
export interface ContainerBackup {
  readonly format: 1;
  readonly container: ContainerView;
  readonly image: ImageView;
  /** Digest of the image, in the words of `RuntimeStatus` (A6). */
  readonly imageChecksum: string;
}

/** The backup with the checksum of its text, so that a damaged one is told from a whole one (A12). */
interface Sealed {
  readonly checksum: string;
  readonly backup: ContainerBackup;
}

const NAME = 'container.json';

/** Writes `{backupDir}/container.json`; on disk when it resolves. The backup's manifest comes after it. */
export async function writeContainerBackup(backupDir: string, backup: ContainerBackup): Promise<void> {
  const path = join(backupDir, NAME);
  await explainingHostErrors(`back up to ${backupDir}`, async () => {
    await mkdir(backupDir, { recursive: true, mode: 0o700 });
    await syncFolder(dirname(backupDir)); // its own name, before anything in it counts
    const sealed: Sealed = { checksum: sealOf(backup), backup };
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    // environment variables are in it, some of them secret
    await replaceFile(path, `${JSON.stringify(sealed)}\n`, { mode: BACKUP_FILE_MODE, ...owner });
  });
}

/** The container of a backup; null when the backup has none. @throws HostError `backup_corrupt` when it is damaged */
async function readContainerBackup(backupDir: string): Promise<ContainerBackup | null> {
  const path = join(backupDir, NAME);
  const text = await readTextIfThere(path);
  if (text === null) return null;
  try {
    const { checksum, backup } = JSON.parse(text) as Sealed;
    if (backup.format === 1 && checksum === sealOf(backup)) return backup;
  } catch (error) {
    throw corrupt(path, error);
  }
  throw corrupt(path);
}

/** @throws HostError `backup_corrupt` when there is none or it is damaged */
export async function requireContainerBackup(backupDir: string): Promise<ContainerBackup> {
  const backup = await readContainerBackup(backupDir);
  if (backup !== null) return backup;
  throw new HostError(
    'backup_corrupt',
    `there is no whole backup of a container in ${backupDir}, so nothing can be restored from it`,
  );
}

/**
 * The containers of all backups in a folder that can be read; a damaged one is of no use to anybody.
 * @param without name of the one that is left out
 */
export async function keptContainers(backupRoot: string, without?: string): Promise<ContainerBackup[]> {
  const names = (await namesInFolder(backupRoot)).filter((name) => name !== without);
  const found = await Promise.all(names.map((name) => readableBackup(join(backupRoot, name))));
  return found.filter((backup) => backup !== null);
}

/** Null also when it is damaged. */
export async function readableBackup(backupDir: string): Promise<ContainerBackup | null> {
  try {
    return await readContainerBackup(backupDir);
  } catch (error) {
    if (error instanceof HostError && error.code === 'backup_corrupt') return null;
    throw error;
  }
}

function sealOf(backup: ContainerBackup): string {
  return checksumOf(JSON.stringify(backup));
}

function corrupt(path: string, cause?: unknown): HostError {
  return new HostError('backup_corrupt', `the backup ${path} can't be trusted, so nothing is restored from it`, {
    cause,
  });
}
