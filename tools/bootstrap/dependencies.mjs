import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, ROOT } from './paths.mjs';
import { runCollected } from './run-command.mjs';
import { SetupError } from './setup-error.mjs';
import { step } from './step.mjs';

/**
 * Runs `npm ci` when what is installed differs from package-lock.json. The comparison is with the record npm itself
 * leaves in node_modules after a finished install, so an interrupted install or a newer lock file is noticed.
 */
export async function ensureDependencies() {
  if (installedMatchesLock()) return;
  const npm = findOnPath('npm');
  if (!npm) throw new SetupError('npm is not on PATH.', 'install npm (it comes with Node), then run this again.');
  await step('Installing dependencies with npm ci', '20-90 s', async () => {
    const { code, output } = await runCollected(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
    if (code === 0) return;
    throw new SetupError(
      `npm ci failed:\n${output.trimEnd()}`,
      'read the lines above; most often the registry was out of reach. When it answers again, run the same command.',
    );
  });
}

/** Whether every package the lock names is installed at that version; optional ones of other platforms may be absent. */
export function installedMatchesLock(root = ROOT) {
  const record = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true;
    return path in installed ? installed[path].version === version : optional === true;
  });
}
