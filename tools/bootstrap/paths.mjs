import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the work tree. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** Where builds are kept between clones: outside the work tree, so that a fresh clone finds them. */
export function cacheDir() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'hoodcloud-rollout');
}

/**
 * A cache folder that every user of the machine can reach. Root's home usually isn't, and Postgres refuses to run as
 * root, so what Postgres needs goes here.
 */
export function sharedCacheDir() {
  const candidates = [cacheDir(), '/var/cache/hoodcloud-rollout'];
  return candidates.find(reachableByAll) ?? join(tmpdir(), 'hoodcloud-rollout');
}

/** Whether any user may walk down to `path`; parts that don't exist yet are ours to make and count as reachable. */
export function reachableByAll(path) {
  for (let at = resolve(path); at !== dirname(at); at = dirname(at)) {
    if (existsSync(at) && (statSync(at).mode & 0o001) === 0) return false;
  }
  return true;
}

/** Full path of a program on PATH, or undefined. */
export function findOnPath(program) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const candidate = join(folder, program);
    if (folder && isExecutable(candidate)) return candidate;
  }
  return undefined;
}

/** Whether `path` is a file that may be run. */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // not there or not ours to run: both mean "look elsewhere"
  }
}
