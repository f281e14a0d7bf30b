import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../agent-error.ts';

/**
 * Everywhere that systemd reads units and drop-ins from (systemd.unit(5)), but for the output of generators: each
 * daemon-reload writes it anew.
 */
const UNIT_FOLDERS = [
  '/etc/systemd/system',
  '/etc/systemd/system.control',
  '/run/systemd/system',
  '/run/systemd/system.control',
  '/run/systemd/transient',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
];

/**
 * What every unit file and drop-in of the host is now: path, inode and time of its last change. Two equal answers mean
 * that nothing changed between them. By change time, which nobody can set: systemd's own `NeedDaemonReload` goes by
 * modification time and answers `no` when an older file was put back. Synchronous on purpose: some hundred looks at
 * cached inodes take a few milliseconds, and this happens while a node is down.
 */
export function unitFilesNow(folders: readonly string[] = UNIT_FOLDERS): string {
  return folders.flatMap((folder) => describeTree(folder)).join('\n');
}

function describeTree(path: string): string[] {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return [];
  const self = `${path} ${stat.dev}:${stat.ino} ${stat.ctimeNs}`;
  if (!stat.isDirectory()) return [self];
  return [self, ...entriesOf(path).flatMap((entry) => describeTree(join(path, entry)))];
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
