import { type FileHandle, lstat, open, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import { copyAttributes } from './extended-attributes.ts';
import { explainingHostErrors, HostError } from './host-error.ts';

/** What a replaced file keeps (A8). `mtimeMs` only where a restore puts an old file back. */
export interface FileAttributes {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs?: number;
}

/** Mode of a file that wasn't there before (spec "Systemd Adapter": 0644). */
const NEW_FILE_MODE = 0o644;

/**
 * Replaces or creates a file so that every reader, and the disk after a power cut, has the old or the new content whole:
 * temp file beside it, fsync, owner and mode, rename, fsync of the folder (A8). A link is followed, never replaced.
 * @param attributes owner and mode to give; by default those of the file that is replaced; `all_of_replaced`: its ACL and
 *   extended attributes too
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string,
  attributes?: FileAttributes | 'all_of_replaced',
): Promise<void> {
  await explainingHostErrors(`write ${path}`, async () => {
    const target = await followLinks(path);
    const given = typeof attributes === 'object' ? attributes : null;
    const old = given === null ? await attributesOf(target) : null;
    const temp = tempBeside(target);
    try {
      const file = await openNew(temp);
      try {
        await file.writeFile(content);
        if (attributes === 'all_of_replaced' && old !== null) await copyAttributes(target, temp);
        else await applyAttributes(file, given ?? old ?? { mode: NEW_FILE_MODE });
        await file.sync();
      } finally {
        await file.close();
      }
      await renameDurably(temp, target);
    } catch (error) {
      await rm(temp, { force: true });
      throw error;
    }
  });
}

/** What a crash left under this name is taken away first. */
async function openNew(temp: string): Promise<FileHandle> {
  try {
    return await open(temp, 'wx', 0o600);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    await rm(temp, { force: true });
    return open(temp, 'wx', 0o600);
  }
}

/** Owner, group, permission bits and time of a file; null when it isn't there. */
export async function attributesOf(path: string): Promise<Required<FileAttributes> | null> {
  try {
    const { mode, uid, gid, mtimeMs } = await stat(path);
    return { mode: mode & 0o7777, uid, gid, mtimeMs };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Sets owner, then mode (a change of owner clears set-uid bits, field-case 48), then times. */
export async function applyAttributes(
  file: FileHandle,
  wanted: Partial<FileAttributes> & Pick<FileAttributes, 'mode'>,
): Promise<void> {
  const now = await file.stat();
  const uid = wanted.uid ?? now.uid;
  const gid = wanted.gid ?? now.gid;
  if (uid !== now.uid || gid !== now.gid) await file.chown(uid, gid);
  await file.chmod(wanted.mode);
  if (wanted.mtimeMs !== undefined) await file.utimes(now.atimeMs / 1000, wanted.mtimeMs / 1000);
}

/** Renames within one folder and makes the rename itself survive a power cut. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}

/** Removes a file, if it is there, and makes the removal survive a power cut. */
export async function removeDurably(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncFolder(dirname(path));
}

/** Removes a folder that nothing is in any more; one that isn't empty, or isn't there, stays as it is. */
export async function removeFolderIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(error) ?? '')) throw error;
  }
}

/** Flushes a folder's entries (names) to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Where a replacement of `path` is written first; one fixed name, so that what a crash left is found and removed. */
export function tempBeside(path: string): string {
  return join(dirname(path), `.${basename(path)}.hoodcloud-tmp`);
}

/** The file that a path stands for: links followed, a path that doesn't exist yet as it is. */
export async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    if (await isLink(path)) {
      throw new HostError('dangling_link', `${path} is a link that leads nowhere: repair or remove it`, {
        cause: error,
      });
    }
    return path;
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
