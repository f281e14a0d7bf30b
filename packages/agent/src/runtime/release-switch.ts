import { lchown, lstat, lutimes, mkdir, open, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import {
  applyAttributes,
  attributesOf,
  removeDurably,
  renameDurably,
  replaceFile,
  syncFolder,
  tempBeside,
} from '../host/atomic-file.ts';
import { HostError } from '../host/host-error.ts';
import { readTextIfThere } from '../host/read-if-there.ts';
import { BACKUP_FILE_MODE } from '../upgrade/backup-manifest.ts';
import type { ReleasePlace } from './release-place.ts';

/** What `release.json` in a backup says: written before the first change, so that an undo knows what was ours. */
interface ReleaseRecord {
  readonly format: 1;
  readonly link: LinkAsFound;
  /** The binary's new place; null when it was there before. */
  readonly binary: string | null;
  /** Folders that weren't there before, the outermost first. */
  readonly folders: readonly string[];
}

interface LinkAsFound {
  readonly path: string;
  readonly text: string;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs: number;
}

const NAME = 'release.json';

/**
 * Brings an acquired binary to its place and points the link there; every step by a rename, the link last. Safe to
 * repeat at any point.
 * @param acquired where the binary lies: the download, or the new place itself
 */
export async function switchRelease(place: ReleasePlace, acquired: string, backupDir: string): Promise<void> {
  const record = (await readRecord(backupDir)) ?? (await writeRecord(place, backupDir));
  for (const folder of record.folders) await makeFolderLike(folder, place);
  if (acquired !== place.binary) {
    await renameDurably(acquired, place.binary);
    await syncFolder(dirname(acquired));
  }
  const { path, uid, gid } = record.link;
  await pointLink({ path, text: place.linkText, uid, gid, mtimeMs: Date.now() });
}

/** Puts the link back as it was found, and removes what the switch has made. Does nothing when there was no switch. */
export async function undoRelease(backupDir: string): Promise<void> {
  const record = await readRecord(backupDir);
  if (record === null) return;
  await rm(tempBeside(record.link.path), { force: true });
  if ((await textOf(record.link.path)) !== record.link.text) await pointLink(record.link);
  const { binary, folders } = record;
  if (binary !== null && (await attributesOf(binary)) !== null) await removeDurably(binary);
  for (const folder of folders.toReversed()) await removeIfEmpty(folder);
}

async function writeRecord(place: ReleasePlace, backupDir: string): Promise<ReleaseRecord> {
  const { uid, gid, mtimeMs } = await lstat(place.link);
  const link = { path: place.link, text: await readlink(place.link), uid, gid, mtimeMs };
  const binary = (await attributesOf(place.binary)) === null ? place.binary : null;
  const folders: string[] = [];
  for (let at = dirname(place.binary); at !== place.folder && (await attributesOf(at)) === null; at = dirname(at)) {
    folders.unshift(at);
  }
  const record: ReleaseRecord = { format: 1, link, binary, folders };
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  await replaceFile(join(backupDir, NAME), `${JSON.stringify(record, null, 2)}\n`, {
    mode: BACKUP_FILE_MODE,
    ...owner,
  });
  return record;
}

async function readRecord(backupDir: string): Promise<ReleaseRecord | null> {
  const path = join(backupDir, NAME);
  const text = await readTextIfThere(path);
  if (text === null) return null;
  try {
    const record = JSON.parse(text) as ReleaseRecord;
    if (record.format === 1 && Array.isArray(record.folders)) return record;
  } catch (error) {
    throw unreadable(path, error);
  }
  throw unreadable(path);
}

/** With the owner and mode of the folder that has its place in the present release. */
async function makeFolderLike(folder: string, { oldRoot, newRoot, inside }: ReleasePlace): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  const like = inside === '' ? dirname(oldRoot) : join(oldRoot, relative(newRoot, folder));
  const attributes = await attributesOf(like);
  const handle = await open(folder, 'r');
  try {
    if (attributes !== null) {
      const { mode, uid, gid } = attributes;
      await applyAttributes(handle, { mode, uid, gid });
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(dirname(folder));
}

/** A link can't be changed, only replaced: the new one beside it, then a rename. */
async function pointLink({ path, text, uid, gid, mtimeMs }: LinkAsFound): Promise<void> {
  const temp = tempBeside(path);
  await rm(temp, { force: true });
  await symlink(text, temp);
  const made = await lstat(temp);
  if (made.uid !== uid || made.gid !== gid) await lchown(temp, uid, gid);
  await lutimes(temp, mtimeMs / 1000, mtimeMs / 1000);
  await rename(temp, path);
  await syncFolder(dirname(path));
  if ((await textOf(path)) === text) return;
  throw new HostError('link_not_replaced', `${path} was pointed to ${text} but says something else: check the disk`);
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readlink(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EINVAL') return null;
    throw error;
  }
}

/** What somebody put there meanwhile stays. */
async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTEMPTY') return;
    throw error;
  }
  await syncFolder(dirname(folder));
}

function unreadable(path: string, cause?: unknown): HostError {
  const sentence = `${path} can't be understood, so the link is not touched: put it back by hand`;
  return new HostError('backup_corrupt', sentence, cause === undefined ? undefined : { cause });
}
