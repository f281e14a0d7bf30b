import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';

/** Every file git knows or would add, relative to the root. */
export async function trackedFiles() {
  const { code, output, stdout } = await runCollected('git', [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '-z',
  ]);
  if (code !== 0) throw new Error(`git ls-files failed: ${output}`);
  return stdout.split('\0').filter(Boolean);
}

/** The file's text, or undefined when it is binary or was deleted and not yet committed so. */
export function readText(file) {
  try {
    const content = readFileSync(join(ROOT, file));
    return content.includes(0) ? undefined : content.toString('utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined;
    throw error;
  }
}
