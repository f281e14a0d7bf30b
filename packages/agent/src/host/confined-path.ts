import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, normalize, sep } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import { followLinks } from './atomic-file.ts';
import { HostError } from './host-error.ts';

/** Restoring an old signing state double-signs, and keys are nobody's configuration (A9). */
const REFUSED_NAMES = [
  /^priv_validator_(state|key)\.json$/,
  /^(node_key|keystore.*|.*_keystore)\.json$/,
  /^keystore(-.*)?$/,
  /^slashing[-_]?protection.*$/,
  /\.(sqlite|db|ldb|sst|pem|key)$/,
];
const REFUSED_FOLDERS = /^(keystores?|keyring-.*|slashing[-_]?protection|validator_keys|secrets)$/;

/**
 * Checks that an upgrade may write a config path, and returns the real file behind it (A9).
 * @param roots absolute folders from the agent's own config
 * @throws HostError `path_refused`
 */
export async function confinePath(path: string, roots: readonly string[]): Promise<string> {
  if (!isAbsolute(path) || normalize(path) !== path || path.endsWith(sep)) {
    throw refused(path, 'it must be absolute, name a file and hold no "..", "." or double slash');
  }
  refuseByName(path);
  const target = await followLinks(path);
  refuseByName(target);
  const folder = await realFolder(path, target);
  for (const root of roots) if (isInside(folder, await realRoot(root))) return target;
  const allowed = roots.length > 0 ? roots.join(', ') : 'none';
  throw refused(path, `it leads outside the config_roots of the agent's configuration (${allowed})`);
}

function refuseByName(path: string): void {
  const folders = dirname(path).split(sep);
  if (REFUSED_NAMES.some((name) => name.test(basename(path))) || folders.some((name) => REFUSED_FOLDERS.test(name))) {
    throw refused(path, 'keys, signing states and databases are never touched by an upgrade');
  }
}

async function realFolder(path: string, target: string): Promise<string> {
  try {
    return await realpath(dirname(target));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw refused(path, `its folder ${dirname(path)} doesn't exist`);
    throw error;
  }
}

async function realRoot(root: string): Promise<string> {
  try {
    return await realpath(root);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return root;
    throw error;
  }
}

function isInside(folder: string, root: string): boolean {
  return folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep);
}

function refused(path: string, why: string): HostError {
  return new HostError('path_refused', `the config path ${path} is refused: ${why}`);
}
