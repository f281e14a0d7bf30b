import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../agent-error.ts';

/** A folder of units, a drop-in folder in it, a file in that: deeper down systemd reads nothing, and links may go in circles. */
const LEVELS = 2;

/**
 * What every unit file and drop-in of the host is now: path, inode and time of its last change. Two equal answers mean
 * that nothing changed between them. By change time, which nobody can set: systemd's own `NeedDaemonReload` goes by
 * modification time and answers `no` when an older file was put back. Synchronous on purpose: some hundred looks at
 * cached inodes take a few milliseconds, and this happens while a node is down.
 */
export function unitFilesNow(folders: readonly string[]): string {
  return folders.flatMap((folder) => describeTree(folder, LEVELS)).join('\n');
}

function describeTree(path: string, levels: number): string[] {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return [];
  const self = `${path} ${stat.dev}:${stat.ino} ${stat.ctimeNs}`;
  if (!stat.isDirectory() || levels === 0) return [self];
  return [self, ...entriesOf(path).flatMap((entry) => describeTree(join(path, entry), levels - 1))];
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
