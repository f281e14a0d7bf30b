import { dirname } from 'node:path';
import type { DiskChange } from './disk-change.ts';

/** Changes of a file whose content, mode or owner would be lost by a power cut until it is fsynced. */
const DIRTYING: readonly DiskChange['kind'][] = ['write', 'chmod', 'chown', 'setxattr', 'utimes'];

interface Options {
  /** Whether a path is on a disk and must survive: not `/run`, not `/proc`. */
  readonly isKept: (path: string) => boolean;
}

/**
 * The rule that a power cut leaves the old or the new, judged by the order of system calls (A4, A8), since a test host
 * keeps its page cache: no file gets its name by a rename before everything in it, and everything below its new folder,
 * is fsynced; and the new name is fsynced by its folder before anything else is renamed or removed.
 * @returns a sentence per violation, in the order of the calls
 */
export function lostByPowerCut(changes: readonly DiskChange[], { isKept }: Options): string[] {
  const disk = new Disk();
  const violations: string[] = [];
  for (const change of changes) {
    if (change.succeeded && isKept(change.path)) violations.push(...disk.take(change));
  }
  return [...violations, ...disk.unsyncedRenames('the end')];
}

class Disk {
  /** Files with content or attributes that are only in memory. */
  readonly #dirty = new Set<string>();
  /** Names that are only in memory: a file or folder that was made and whose folder was not fsynced since. */
  readonly #newNames = new Set<string>();
  /** Folder → the rename or removal that its fsync must follow. */
  readonly #awaitingFolder = new Map<string, string>();

  take(change: DiskChange): string[] {
    const { kind, path, to } = change;
    if (DIRTYING.includes(kind)) this.#dirty.add(path);
    if ((kind === 'open_for_write' && change.creates) || kind === 'mkdir') this.#newNames.add(path);
    if (kind === 'link' && to !== null) this.#newNames.add(to);
    if (kind === 'fsync') this.#sync(path);
    if (kind === 'unlink' || kind === 'rmdir') return this.#remove(path);
    return kind === 'rename' && to !== null ? this.#rename(path, to) : [];
  }

  /** Folders whose change of names nothing has written to the disk yet. */
  unsyncedRenames(before: string): string[] {
    return [...this.#awaitingFolder].map(([folder, what]) => `${what}, but ${folder} was not fsynced before ${before}`);
  }

  #sync(path: string): void {
    this.#dirty.delete(path);
    this.#awaitingFolder.delete(path);
    for (const name of this.#newNames) if (dirname(name) === path) this.#newNames.delete(name);
  }

  #remove(path: string): string[] {
    const wasKept = !this.#newNames.has(path); // a name that never reached the disk leaves nothing behind
    this.#dirty.delete(path);
    this.#newNames.delete(path);
    if (!wasKept) return [];
    const missing = this.unsyncedRenames(`${path} was removed`);
    this.#awaitingFolder.set(dirname(path), `${path} was removed`);
    return missing;
  }

  #rename(from: string, to: string): string[] {
    const found = this.unsyncedRenames(`the rename to ${to}`);
    this.#awaitingFolder.clear(); // each is told once
    if (this.#dirty.has(from)) found.push(`${from} was renamed to ${to} before it was fsynced`);
    for (const path of this.#dirty) {
      if (path !== from && isBelow(path, dirname(to))) found.push(`${path} was not fsynced before ${to} got its name`);
    }
    for (const path of this.#newNames) {
      const matters = path !== from && (isBelow(path, dirname(to)) || isBelow(to, path));
      if (matters) found.push(`the name ${path} was not fsynced before ${to} got its name`);
    }
    this.#dirty.delete(from);
    this.#dirty.delete(to);
    this.#newNames.delete(from);
    this.#awaitingFolder.set(dirname(to), `${from} was renamed to ${to}`);
    return found;
  }
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}
