import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { trackedFiles } from '../checks/tracked-files.mjs';

const OWN_SCOPE = '@hoodcloud';

/**
 * Copies the work tree, uncommitted changes included, to a temporary folder. Libraries are linked, but our own packages
 * resolve inside the copy, so that a change there is seen from every package.
 * @returns {Promise<string>} the copy's folder
 */
export async function copyTree() {
  const copy = mkdtempSync(join(tmpdir(), 'hoodcloud-mutants-'));
  await chmod(copy, 0o755);
  for (const file of await trackedFiles()) {
    const from = join(ROOT, file);
    if (!existsSync(from) || lstatSync(from).isDirectory()) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(from, join(copy, file), { verbatimSymlinks: true });
  }
  linkLibraries('.', copy);
  for (const name of readdirSync(join(ROOT, 'packages'))) linkLibraries(join('packages', name), copy);
  return copy;
}

function linkLibraries(folder, copy) {
  const from = join(ROOT, folder, 'node_modules');
  if (!existsSync(from)) return;
  const to = join(copy, folder, 'node_modules');
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name === OWN_SCOPE) linkOwnPackages(join(to, name), copy);
    else if (!name.startsWith('.') || name === '.bin') symlinkSync(join(from, name), join(to, name));
  }
}

function linkOwnPackages(scope, copy) {
  mkdirSync(scope);
  for (const name of readdirSync(join(copy, 'packages'))) symlinkSync(join(copy, 'packages', name), join(scope, name));
}
