import { join } from 'node:path';
import { attributesOf, type FileAttributes, replaceFile } from '../host/atomic-file.ts';
import { type ExtendedAttributes, extendedAttributesOf } from '../host/extended-attributes.ts';
import { hashFileIfThere } from '../host/file-hash.ts';
import { HostError } from '../host/host-error.ts';
import { readTextIfThere } from '../host/read-if-there.ts';

/** What `{data_dir}/.upgrade-backup/{attempt_id}/manifest.json` says; written last, so that a backup with it is whole. */
export interface BackupManifest {
  readonly format: 1;
  /** Null when the artifact is no file: an image, which stays in its engine. */
  readonly artifact: BackedUpFile | null;
  readonly configs: readonly BackedUpFile[];
}

/** A file as it was before the upgrade. */
export interface BackedUpFile {
  /** As the command or the agent's configuration names it. */
  readonly path: string;
  /** The file behind it when it was a link. */
  readonly realPath: string;
  /** `null`: there was no such file, an undo removes it. */
  readonly content: BackedUpContent | null;
}

export interface BackedUpContent {
  /** Where the copy lies, relative to the backup folder. */
  readonly copy: string;
  /** `sha256:<hex>` of the original when it was backed up, and of the copy as it was read back from the disk (A12). */
  readonly originalChecksum: string;
  readonly copyChecksum: string;
  readonly attributes: Required<FileAttributes>;
  /** An empty file that keeps owner, mode, ACL and extended attributes; relative to the backup folder. */
  readonly attributesCopy: string;
  /** ACL and extended attributes of the original: what the empty file must show, and the restored file too (A8). */
  readonly extended: ExtendedAttributes;
}

const NAME = 'manifest.json';
/** Copies hold configurations, some of them secret: nobody else reads them. */
export const BACKUP_FILE_MODE = 0o600;

/** Writes the manifest: the last step of a backup. */
export async function writeBackupManifest(backupDir: string, manifest: BackupManifest): Promise<void> {
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  await replaceFile(join(backupDir, NAME), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: BACKUP_FILE_MODE,
    ...owner,
  });
}

/**
 * Reads a backup's manifest; null when there is none (the backup was never finished).
 * @throws HostError `backup_corrupt` when it can't be understood
 */
export async function readBackupManifest(backupDir: string): Promise<BackupManifest | null> {
  const path = join(backupDir, NAME);
  const text = await readTextIfThere(path);
  if (text === null) return null;
  try {
    const manifest = JSON.parse(text) as BackupManifest;
    if (manifest.format === 1 && Array.isArray(manifest.configs) && manifest.artifact !== undefined) return manifest;
  } catch (error) {
    throw corrupt(path, 'it is not JSON', error);
  }
  throw corrupt(path, 'it is not a backup manifest of format 1');
}

/**
 * The three-way check (A12): the original's checksum as recorded, the copy's as recorded, and the copy's as it is now;
 * and that the kept attributes are those recorded.
 * @throws HostError `backup_corrupt`: nothing may be restored from it
 */
export async function checkThreeWay(backupDir: string, content: BackedUpContent): Promise<void> {
  const path = join(backupDir, content.copy);
  const now = await hashFileIfThere(path);
  if (now === null) throw corrupt(path, 'the copy is gone');
  if (content.originalChecksum !== content.copyChecksum || content.copyChecksum !== now) {
    throw corrupt(
      path,
      `the original was ${content.originalChecksum}, the copy was ${content.copyChecksum} and is ${now} now`,
    );
  }
  await checkKeptAttributes(join(backupDir, content.attributesCopy), content);
}

async function checkKeptAttributes(path: string, { attributes, extended }: BackedUpContent): Promise<void> {
  const now = await attributesOf(path);
  if (now === null) throw corrupt(path, 'the file that keeps owner, mode and attributes is gone');
  const same = now.mode === attributes.mode && now.uid === attributes.uid && now.gid === attributes.gid;
  if (same && (await extendedAttributesOf(path)).checksum === extended.checksum) return;
  throw corrupt(path, 'it no longer has the owner, mode and attributes that were kept in it');
}

/** Whether the backup is whole: manifest there, every copy as recorded. */
export async function isBackupWhole(backupDir: string): Promise<boolean> {
  try {
    const manifest = await readBackupManifest(backupDir);
    if (manifest === null) return false;
    for (const file of [manifest.artifact, ...manifest.configs]) {
      if (file?.content) await checkThreeWay(backupDir, file.content);
    }
    return true;
  } catch (error) {
    if (error instanceof HostError && error.code === 'backup_corrupt') return false;
    throw error;
  }
}

function corrupt(path: string, why: string, cause?: unknown): HostError {
  return new HostError(
    'backup_corrupt',
    `the backup ${path} can't be trusted, so nothing is restored from it: ${why}`,
    cause === undefined ? undefined : { cause },
  );
}
