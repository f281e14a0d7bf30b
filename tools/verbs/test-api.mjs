import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, findOnPath } from '../bootstrap/paths.mjs';
import { runVisible } from '../bootstrap/run-command.mjs';
import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';

const VERSION = '4.32.5';

/**
 * `test:api [--all]`: Schemathesis, a tester of other people's making, against the served API (docs/testing.md). It gets
 * an environment of its own in the cache, outside the work tree.
 */
export async function run(args) {
  await setUp();
  const program = await ensureSchemathesis();
  return runTypeScript('tools/api-test/api-test.ts', [program, ...args]);
}

async function ensureSchemathesis() {
  const folder = join(cacheDir(), `schemathesis-${VERSION}`);
  const program = join(folder, 'bin', 'schemathesis');
  if (existsSync(join(folder, 'complete'))) return program;
  const python = findOnPath('python3');
  if (!python) throw new SetupError('Python 3 is not on PATH.', 'apt install python3 python3-venv');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cacheDir(), { recursive: true });
  await must([python, '-m', 'venv', folder], 'apt install python3-venv');
  const pip = ['install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`];
  await must([join(folder, 'bin', 'pip'), ...pip], 'check that PyPI can be reached');
  mkdirSync(join(folder, 'complete.new'));
  renameSync(join(folder, 'complete.new'), join(folder, 'complete'));
  return program;
}

async function must([command, ...args], advice) {
  const { code } = await runVisible(command, args);
  if (code !== 0) throw new SetupError(`${[command, ...args].join(' ')} ended with ${code}.`, advice);
}
