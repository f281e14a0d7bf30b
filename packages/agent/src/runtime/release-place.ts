import { constants } from 'node:fs';
import { access, lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import { followLinks } from '../host/atomic-file.ts';
import { RuntimeError } from './runtime-adapter.ts';

/** Where a new version goes when the link is replaced instead of followed (A8, field-case 50). Absolute paths. */
export interface ReleasePlace {
  /** The last link on the way from the install path to the binary: Cosmovisor's `current`, `gaiad -> gaiad-v1`. */
  readonly link: string;
  /** What the link is to say: relative when it is now. */
  readonly linkText: string;
  /** What the link leads to now, and is to lead to: a folder, or the binary itself. */
  readonly oldRoot: string;
  readonly newRoot: string;
  /** From the root to the binary; empty when the link leads to the binary itself. */
  readonly inside: string;
  /** The binary in the new place. */
  readonly binary: string;
  /** Holds all releases and, until the swap, the download: one file system with the new place. */
  readonly folder: string;
}

/**
 * The place of a release by its name.
 * A link to a folder: a folder of that name beside the present one. A link to the binary: a file `{link}-{name}` beside
 * the present one. `releasesDir` of the agent's configuration says another folder in which each release has its own.
 * @throws RuntimeError `no_link` when there is none to replace
 */
export async function releasePlace(
  installPath: string,
  releasesDir: string | null,
  name: string,
): Promise<ReleasePlace> {
  const { link, inside } = await lastLink(installPath);
  const oldRoot = await followLinks(link);
  const folder = releasesDir === null ? dirname(oldRoot) : await existingFolder(releasesDir);
  const toBinary = inside === '';
  const newRoot = join(folder, toBinary && releasesDir === null ? `${basename(link)}-${name}` : name);
  const ownFolder = toBinary && releasesDir !== null;
  const binary = ownFolder ? join(newRoot, basename(link)) : join(newRoot, inside);
  const leadsTo = toBinary ? binary : newRoot;
  const text = await readlink(link);
  const linkText = isAbsolute(text) ? leadsTo : relative(dirname(link), leadsTo);
  return { link, linkText, oldRoot, newRoot, inside, binary, folder };
}

/** Names of the releases beside the present one that hold a binary, for a search by content. */
export async function otherReleases(place: ReleasePlace): Promise<string[]> {
  const prefix = place.newRoot === place.binary ? `${basename(place.link)}-` : '';
  const found: string[] = [];
  for (const entry of await readdir(place.folder)) {
    const root = join(place.folder, entry);
    const binary = join(root, relative(place.newRoot, place.binary));
    if (entry.startsWith(prefix) && root !== place.oldRoot && (await statIfThere(binary))?.isFile()) {
      found.push(entry.slice(prefix.length));
    }
  }
  return found;
}

/**
 * Everything that can be known of the place before the stop (A10).
 * @param occupiedBy checksum of the binary that is in the new place already; null when there is none
 * @throws RuntimeError `release_in_use` | `release_exists` | `release_has_more` | `other_file_system`
 */
export async function checkPlace(place: ReleasePlace, occupiedBy: string | null, wanted: string): Promise<void> {
  const { link, oldRoot, newRoot, binary, folder } = place;
  await access(dirname(link), constants.W_OK | constants.X_OK);
  if (newRoot === oldRoot) {
    throw new RuntimeError(
      'release_in_use',
      `${link} leads to ${newRoot} already, with another binary: give the manifest another release name, or link: follow`,
    );
  }
  if (occupiedBy !== null && occupiedBy !== wanted) {
    throw new RuntimeError(
      'release_exists',
      `${binary} is there already as ${occupiedBy}, wanted is ${wanted}: remove it, or give the manifest another release name`,
    );
  }
  const prepared = await statIfThere(newRoot);
  if (prepared === null) return refuseCompany(place);
  if (prepared.dev !== (await stat(folder)).dev) {
    throw new RuntimeError('other_file_system', `${newRoot} is a file system of its own: a rename can't reach it`);
  }
}

/** What lies beside the binary would be missing in a folder that holds nothing but the new one. */
async function refuseCompany({ oldRoot, newRoot, inside }: ReleasePlace): Promise<void> {
  if (inside === '') return;
  const entries = await readdir(oldRoot, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(oldRoot, join(entry.parentPath, entry.name)))
    // Cosmovisor writes its own into the folder of the upgrade
    .filter((path) => path !== inside && path !== 'upgrade-info.json');
  if (files.length === 0) return;
  throw new RuntimeError(
    'release_has_more',
    `${oldRoot} holds more than the binary (${files.slice(0, 3).join(', ')}), which ${newRoot} would lack: prepare that folder with what it needs, or use link: follow`,
  );
}

/** Follows the path as the kernel does and remembers the last link met. */
async function lastLink(path: string): Promise<{ link: string; inside: string }> {
  let at: string = sep;
  let ahead = path.split(sep).filter(Boolean);
  let last: { link: string; inside: string } | null = null;
  for (let hops = 0; ahead.length > 0 && hops < 400; hops++) {
    const [name = '', ...rest] = ahead;
    ahead = rest;
    const next = join(at, name);
    if (!(await isLink(next))) {
      at = next;
      continue;
    }
    const text = await readlink(next);
    last = { link: next, inside: rest.join(sep) };
    ahead = [...text.split(sep).filter(Boolean), ...rest];
    if (isAbsolute(text)) at = sep;
  }
  if (last !== null) return last;
  throw new RuntimeError('no_link', `there is no link on the way to ${path} that could be replaced: use link: follow`);
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function existingFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    throw new RuntimeError(
      'no_releases_dir',
      `releases_dir ${path} doesn't exist: make it, on the node's file system`,
      {
        cause: error,
      },
    );
  }
}

async function statIfThere(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}
