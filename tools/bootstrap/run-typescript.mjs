import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';
import { runVisible } from './run-command.mjs';
import { SetupError } from './setup-error.mjs';

/**
 * Runs a TypeScript file of this work tree with the Node we run on; answers its exit code.
 * @param {string} file relative to the root
 */
export async function runTypeScript(file, args) {
  if (!existsSync(join(ROOT, file)))
    throw new SetupError(`${file} isn't in this work tree.`, 'check out a commit that has it.');
  const { code } = await runVisible(process.execPath, ['--import', 'tsx', join(ROOT, file), ...args]);
  return code;
}
