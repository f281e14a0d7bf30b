import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import { namesInFolder } from '../host/read-if-there.ts';
import type { RuntimeAdapter } from '../runtime/runtime-adapter.ts';
import type { AttemptRecord } from './attempt-record.ts';

/** Backups of a component, one folder an attempt (spec "Backup Directory"). */
export function backupRoot(dataDir: string): string {
  return join(dataDir, '.upgrade-backup');
}

/** Backup folders under `root`, newest first. */
export async function listBackups(root: string): Promise<string[]> {
  const names = await namesInFolder(root);
  const dated = await Promise.all(names.map(async (name) => ({ name, at: await folderTime(join(root, name)) })));
  return dated
    .filter(({ at }) => at !== null)
    .sort((a, b) => (b.at ?? 0) - (a.at ?? 0))
    .map(({ name }) => join(root, name));
}

/** Whether a folder, not a link to one, is there. */
export async function isFolder(path: string): Promise<boolean> {
  return (await folderTime(path)) !== null;
}

/**
 * Attempts whose backups are needed whatever their age (A13): those that are not settled; the latest that stands, which is
 * the way back; the last good one; and the first after it that found the last good version installed and so has a copy of it.
 * @param records of one component, newest first
 */
export function neededBackups(records: readonly AttemptRecord[]): readonly string[] {
  const lastGood = records.find(({ confirmed }) => confirmed);
  const latest = records.find(({ outcome }) => outcome === 'completed');
  const unsettled = records.filter(({ outcome }) => outcome === null || outcome === 'failed_rollback');
  const holder = lastGood && records.toReversed().find((record) => holdsVersionOf(record, lastGood));
  const needed = [lastGood, latest, holder, ...unsettled].filter((record) => record !== undefined);
  return needed.map(({ attemptId }) => attemptId);
}

/** What became of the backups that nothing needs. */
interface PrunedBackups {
  readonly removed: readonly string[];
  readonly stayed: readonly StayedBackup[];
}

interface StayedBackup {
  readonly dir: string;
  readonly error: unknown;
}

function holdsVersionOf(record: AttemptRecord, good: AttemptRecord): boolean {
  const checksum = good.progress.installedChecksum;
  return record.createdAtMs > good.createdAtMs && checksum !== null && record.before.installedChecksum === checksum;
}

/**
 * Removes all but the newest backups (A13). When none of those that would be left is whole, the newest whole one stays too:
 * records may be lost or name folders that are gone, and a host without any way back is never made (field-cases 6, 7).
 * One that can't be removed at the moment is left for the next time.
 * @param protectedDirs never removed, whatever their age
 */
export async function pruneBackups(
  root: string,
  protectedDirs: ReadonlySet<string>,
  runtime: Pick<RuntimeAdapter, 'isBackedUp' | 'removeBackup'>,
  keep = 3,
): Promise<PrunedBackups> {
  const all = await listBackups(root);
  const old = all.slice(keep).filter((dir) => !protectedDirs.has(dir));
  const pruned = { removed: [] as string[], stayed: [] as StayedBackup[] };
  if (old.length === 0) return pruned;
  const kept = all.filter((dir) => !old.includes(dir));
  const isWhole = (dir: string) => runtime.isBackedUp(dir);
  const survivor = (await firstOf(kept, isWhole)) === null ? await firstOf(old, isWhole) : null;
  for (const dir of old) {
    if (dir === survivor) continue;
    try {
      await runtime.removeBackup(dir);
      pruned.removed.push(dir);
    } catch (error) {
      pruned.stayed.push({ dir, error });
    }
  }
  return pruned;
}

async function firstOf(dirs: readonly string[], isWhole: (dir: string) => Promise<boolean>): Promise<string | null> {
  for (const dir of dirs) if (await isWhole(dir)) return dir;
  return null;
}

/** Time of the folder's last change; null when there is no folder. */
async function folderTime(path: string): Promise<number | null> {
  try {
    const found = await lstat(path);
    return found.isDirectory() ? found.mtimeMs : null;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
