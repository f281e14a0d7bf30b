import { statfs } from 'node:fs/promises';
import { HostError } from './host-error.ts';

/** Left free beyond what is asked for: a full disk stops the node itself. */
const RESERVE_BYTES = 16 * 1024 * 1024;

/**
 * Makes sure that so many bytes and files fit on the file system of `folder` (A10).
 * @throws HostError `disk_full` with what is free and what is needed
 */
export async function requireFreeSpace(folder: string, bytes: number, files = 1): Promise<void> {
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

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
