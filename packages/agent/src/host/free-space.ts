import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import { HostError } from './host-error.ts';

/** Left free beyond what is asked for: a full disk stops the node itself. */
const RESERVE_BYTES = 16 * 1024 * 1024;

/** What is about to be written below a folder, which need not be there yet. */
export interface RoomNeeded {
  readonly folder: string;
  readonly bytes: number;
  readonly files: number;
}

/**
 * Makes sure that so many bytes and files fit on the file system of `folder` (A10).
 * @throws HostError `disk_full` with what is free and what is needed
 */
export async function requireFreeSpace(folder: string, bytes: number, files = 1): Promise<void> {
  return requireRoom([{ folder, bytes, files }]);
}

/**
 * The same for several folders at once: what goes to one file system is added up, so that two things that fit one by one
 * are refused together before either is written (field-case 38).
 * @throws HostError `disk_full`
 */
export async function requireRoom(needs: readonly RoomNeeded[]): Promise<void> {
  const byFileSystem = new Map<number, RoomNeeded>();
  for (const need of needs) {
    const folder = await existing(need.folder);
    const { dev } = await stat(folder);
    const { bytes = 0, files = 0 } = byFileSystem.get(dev) ?? {};
    byFileSystem.set(dev, { folder, bytes: bytes + need.bytes, files: files + need.files });
  }
  for (const need of byFileSystem.values()) await requireOn(need);
}

async function requireOn({ folder, bytes, files }: RoomNeeded): Promise<void> {
  const fs = await statfs(folder);
  const free = fs.bavail * fs.bsize;
  if (free < bytes + RESERVE_BYTES) {
    throw new HostError(
      'disk_full',
      `${folder} has ${megabytes(free)} MB free, ${megabytes(bytes + RESERVE_BYTES)} MB are needed: free some space and try again`,
    );
  }
  // file systems without inodes of a fixed number (btrfs) report none at all
  if (fs.files > 0 && fs.ffree < files) {
    throw new HostError('disk_full', `${folder} has ${fs.ffree} inodes free, ${files} are needed: remove some files`);
  }
}

/** The folder, or the nearest one above it that is there. */
async function existing(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    return existing(dirname(folder));
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
