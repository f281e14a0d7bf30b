import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';

/**
 * What a build was made from, so that it is made anew exactly when that changed.
 * @param {string[]} sources files and folders, relative to the root
 * @returns {string} a hash over names and contents
 */
export function fingerprint(sources) {
  const hash = createHash('sha256');
  for (const path of sources.flatMap((source) => filesOf(join(ROOT, source)))) {
    hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

function filesOf(path) {
  if (statSync(path).isDirectory()) {
    return readdirSync(path, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  }
  return [path];
}
