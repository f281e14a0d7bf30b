import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const BUILD = fileURLToPath(new URL('../../../tools/build/bundle-program.mjs', import.meta.url));

/**
 * One program in one file, bundled as it is shipped: it starts in a tenth of the time and needs nothing beside it.
 * @param entry `agent`, `cli`, or where any TypeScript program lies
 */
export async function bundledProgram(entry: string | URL): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-bundle-'));
  try {
    const file = join(folder, 'program.mjs');
    const named = typeof entry === 'string' ? entry : fileURLToPath(entry);
    await promisify(execFile)(process.execPath, [BUILD, named, file]);
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
