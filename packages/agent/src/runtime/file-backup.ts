import { constants } from 'node:fs';
import { copyFile, mkdir, open, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import {
  applyAttributes,
  attributesOf,
  type FileAttributes,
  followLinks,
  removeDurably,
  renameDurably,
  syncFolder,
  tempBeside,
} from '../host/atomic-file.ts';
import { copyAttributes, type ExtendedAttributes, extendedAttributesOf } from '../host/extended-attributes.ts';
import { type FileHashes, hashFile, hashFileIfThere } from '../host/file-hash.ts';
import { type RoomNeeded, requireRoom } from '../host/free-space.ts';
import { explainingHostErrors, HostError } from '../host/host-error.ts';
import { requireReplaceable } from '../host/replaceable.ts';
import {
  BACKUP_FILE_MODE,
  type BackedUpContent,
  type BackedUpFile,
  type BackupManifest,
  checkThreeWay,
  readBackupManifest,
  writeBackupManifest,
} from '../upgrade/backup-manifest.ts';

interface FilesToBackUp {
  readonly backupDir: string;
  /** Null when the artifact is no file of its own. */
  readonly artifactPath: string | null;
  readonly configPaths: readonly string[];
  readonly hashes: FileHashes;
  readonly signal: AbortSignal;
}

const FOLDERS = ['binaries', 'configs', 'attributes/binaries', 'attributes/configs'];

/** Copies the artifact and the configs to `backupDir`; every copy is read back, the manifest comes last. Idempotent. */
export async function backUpFiles(wanted: FilesToBackUp): Promise<void> {
  const { backupDir, artifactPath } = wanted;
  const paths = artifactPath === null ? wanted.configPaths : [artifactPath, ...wanted.configPaths];
  for (const path of paths) await requireReplaceable(await followLinks(path));
  await explainingHostErrors(`back up to ${backupDir}`, async () => {
    const backup = { folder: backupDir, bytes: await totalSize(paths), files: 8 + 2 * paths.length };
    await requireRoom([backup, ...(artifactPath === null ? [] : [await roomForNext(artifactPath)])]);
    for (const folder of FOLDERS) {
      await mkdir(join(backupDir, folder), { recursive: true, mode: 0o700 });
    }
    const artifact =
      artifactPath === null ? null : await backUp(wanted, artifactPath, join('binaries', basename(artifactPath)));
    const configs: BackedUpFile[] = [];
    for (const [index, path] of wanted.configPaths.entries()) {
      configs.push(await backUp(wanted, path, join('configs', distinctName(wanted.configPaths, index))));
    }
    for (const folder of [...FOLDERS, 'attributes', '.', '..', '../..']) await syncFolder(join(backupDir, folder));
    await writeBackupManifest(backupDir, { format: 1, artifact, configs });
  });
}

/**
 * Puts one backed-up file back as it was: content, owner, mode, ACL, extended attributes and time; one that didn't exist is removed. Does nothing
 * when the file is as it was already. Safe to repeat at any point (A2).
 * @throws HostError `backup_corrupt`
 */
export async function restoreFile(backupDir: string, file: BackedUpFile): Promise<void> {
  await explainingHostErrors(`restore ${file.path}`, async () => {
    await rm(tempBeside(file.realPath), { force: true });
    if (file.content === null) {
      if ((await attributesOf(file.realPath)) !== null) await removeDurably(file.realPath);
      return;
    }
    await checkThreeWay(backupDir, file.content);
    if (await isAsBefore(file.realPath, file.content)) return;
    const temp = tempBeside(file.realPath);
    const { copy, attributesCopy, attributes, originalChecksum } = file.content;
    await copyDurably(join(backupDir, copy), temp, { ...attributes, allOf: join(backupDir, attributesCopy) });
    await renameDurably(temp, file.realPath);
    if (await isAsBefore(file.realPath, file.content)) return;
    const restored = await hashFileIfThere(file.realPath);
    const sentence =
      restored === originalChecksum
        ? `${file.path} was restored but not with the owner, mode and attributes it had: compare it with ${join(backupDir, attributesCopy)}`
        : `${file.path} was restored but reads back as ${restored ?? 'nothing'} instead of ${originalChecksum}: check the disk`;
    throw new HostError('restore_failed', sentence);
  });
}

/** @throws HostError `backup_corrupt` when there is no whole backup in `backupDir` */
export async function requireBackup(backupDir: string): Promise<BackupManifest> {
  const manifest = await readBackupManifest(backupDir);
  if (manifest !== null) return manifest;
  throw new HostError('backup_corrupt', `there is no whole backup in ${backupDir}, so nothing can be restored from it`);
}

/** Path of the copy with this checksum in one of the backups, newest first; null when none has it (A12a). */
export async function findInBackups(backupDirs: readonly string[], checksum: string): Promise<string | null> {
  for (const backupDir of backupDirs) {
    const content = await artifactOfBackup(backupDir);
    if (content?.originalChecksum !== checksum) continue;
    const path = join(backupDir, content.copy);
    if ((await hashFileIfThere(path)) === checksum) return path;
  }
  return null;
}

/** `allOf`: a file whose ACL and extended attributes are given too, with owner and mode. */
interface CopyAttributes extends FileAttributes {
  readonly allOf?: string;
}

/** Copies to a file that must not exist yet; on the disk, attributes included, when it resolves. */
export async function copyDurably(from: string, to: string, attributes: CopyAttributes): Promise<void> {
  await rm(to, { force: true });
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    if (attributes.allOf !== undefined) await copyAttributes(attributes.allOf, to);
    const file = await open(to, 'r');
    try {
      await applyAttributes(file, attributes);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

async function backUp(wanted: FilesToBackUp, path: string, copy: string): Promise<BackedUpFile> {
  wanted.signal.throwIfAborted();
  const realPath = await followLinks(path);
  const attributes = await attributesOf(realPath);
  const originalChecksum = await wanted.hashes.of(realPath);
  if (attributes === null || originalChecksum === null) return { path, realPath, content: null };
  const target = join(wanted.backupDir, copy);
  await copyDurably(realPath, target, { mode: BACKUP_FILE_MODE, ...ownIds() });
  const copyChecksum = await hashFile(target, wanted.signal);
  if (copyChecksum !== originalChecksum) {
    throw new HostError('backup_failed', `${path} changed while it was copied, or the disk of ${target} is faulty`);
  }
  const kept = await keepAttributes(wanted, realPath, copy);
  return { path, realPath, content: { copy, originalChecksum, copyChecksum, attributes, ...kept } };
}

/**
 * Keeps owner, mode, ACL and extended attributes in an empty file beside the copies, which are the agent's own: what the
 * file system of the backup can't keep is noticed here, long before the stop.
 */
async function keepAttributes(
  { backupDir }: FilesToBackUp,
  realPath: string,
  copy: string,
): Promise<Pick<BackedUpContent, 'attributesCopy' | 'extended'>> {
  const attributesCopy = join('attributes', copy);
  const holder = join(backupDir, attributesCopy);
  await rm(holder, { force: true });
  const file = await open(holder, 'wx', 0o600);
  try {
    await copyAttributes(realPath, holder);
    await file.sync();
  } finally {
    await file.close();
  }
  const extended = await extendedAttributesOf(realPath);
  await requireSameAttributes(realPath, holder, extended);
  return { attributesCopy, extended };
}

/** @throws HostError `attributes_unsupported` when `path` shows others than the original's */
export async function requireSameAttributes(original: string, path: string, wanted: ExtendedAttributes): Promise<void> {
  const { names, checksum } = await extendedAttributesOf(path);
  if (checksum === wanted.checksum) return;
  const has = (list: readonly string[]) => (list.length === 0 ? 'none' : list.join(', '));
  throw new HostError(
    'attributes_unsupported',
    `the extended attributes of ${original} (${has(wanted.names)}) can't be kept in ${path} (${has(names)}): its file system or the security policy of this host keeps others`,
  );
}

/** A backup that can't be read is no place to look for an artifact; the others are, and so is the network. */
async function artifactOfBackup(backupDir: string): Promise<BackedUpContent | null> {
  try {
    return (await readBackupManifest(backupDir))?.artifact?.content ?? null;
  } catch (error) {
    if (error instanceof HostError && error.code === 'backup_corrupt') return null;
    throw error;
  }
}

async function isAsBefore(path: string, content: BackedUpContent): Promise<boolean> {
  const now = await attributesOf(path);
  const { mode, uid, gid } = content.attributes;
  if (now === null || now.mode !== mode || now.uid !== uid || now.gid !== gid) return false;
  if ((await hashFileIfThere(path)) !== content.originalChecksum) return false;
  return (await extendedAttributesOf(path)).checksum === content.extended.checksum;
}

/** `config.toml`; the second one of that name is `2-config.toml`. */
function distinctName(paths: readonly string[], index: number): string {
  const name = basename(paths[index] ?? '');
  const earlier = paths.slice(0, index).filter((path) => basename(path) === name).length;
  return earlier === 0 ? name : `${earlier + 1}-${name}`;
}

/**
 * What the new version will need beside the old one, as far as it can be known before anything is fetched: as much as
 * the old one. The download and the unpacking ask again with what the server and the archive say (field-case 38).
 */
async function roomForNext(artifactPath: string): Promise<RoomNeeded> {
  const realPath = await followLinks(artifactPath);
  return { folder: dirname(realPath), bytes: await sizeOf(realPath), files: 4 };
}

async function totalSize(paths: readonly string[]): Promise<number> {
  const sizes = await Promise.all(paths.map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

function ownIds(): { uid: number; gid: number } {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}
