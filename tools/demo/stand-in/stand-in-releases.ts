import { createHash } from 'node:crypto';
import { constants, createReadStream, existsSync } from 'node:fs';
import { appendFile, chmod, copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DemoRelease, DemoReleases } from '../chain/demo-chain.ts';

/** The node program finds it again at the end of its own executable. */
const MARK = '\nHOODCLOUD-STAND-IN ';

/**
 * Three releases of the stand-in chain: copies of the Node we run on, each with a trailer that names release and data
 * format. So each is a real executable with a hash of its own, which is what an upgrade is judged by.
 */
export async function standInReleases(folder: string): Promise<DemoReleases> {
  await mkdir(folder, { recursive: true });
  return {
    old: await makeRelease(folder, 'v1.0.0', 'one'),
    good: await makeRelease(folder, 'v1.1.0', 'one'),
    bad: Promise.resolve(await makeRelease(folder, 'v2.0.0', 'two')),
  };
}

async function makeRelease(folder: string, version: string, format: string): Promise<DemoRelease> {
  const path = join(folder, `stand-in-${version}`);
  if (!existsSync(path)) {
    const unfinished = `${path}.${process.pid}`;
    await copyFile(process.execPath, unfinished, constants.COPYFILE_FICLONE);
    await appendFile(unfinished, `${MARK}${JSON.stringify({ release: version, format })}`);
    await chmod(unfinished, 0o755);
    await rename(unfinished, path);
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { version, path, sha256: hash.digest('hex') };
}
