import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../agent-error.ts';

/** Backups of a component, one folder an attempt (spec "Backup Directory"). */
export function backupRoot(dataDir: string): string {
  return join(dataDir, '.upgrade-backup');
}

/** Backup folders under `root`, newest first. */
export async function listBackups(root: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(root);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  const dated = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(root, name))).mtimeMs })));
  return dated.sort((a, b) => b.at - a.at).map(({ name }) => join(root, name));
}

/**
 * Removes all but the newest backups (A13).
 * @param protectedDirs never removed, whatever their age: those of open attempts and of the last good one
 * @returns what was removed
 */
export async function pruneBackups(
  root: string,
  protectedDirs: ReadonlySet<string>,
  keep = 3,
): Promise<readonly string[]> {
  const old = (await listBackups(root)).slice(keep).filter((dir) => !protectedDirs.has(dir));
  for (const dir of old) await rm(dir, { recursive: true, force: true });
  return old;
}
