import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const FOLDER = fileURLToPath(new URL('../workflows/', import.meta.url));
/** Where `npm run build:controlplane` puts what it bundled, beside the program; in the source tree there is none. */
const BUILT = fileURLToPath(new URL('./workflow-bundle.cjs', import.meta.url));

export interface WorkflowBundle {
  readonly code: string;
}

/**
 * The bundle of all workflow code: the one that a production build made. In the source tree it is bundled, which takes
 * seconds, so what was bundled from exactly these sources is kept.
 * @param cacheFolder left out: nothing is kept
 */
export async function loadWorkflowBundle(cacheFolder?: string): Promise<WorkflowBundle> {
  const built = await readIfThere(BUILT);
  if (built !== null) return { code: built };
  if (cacheFolder === undefined) return bundle();
  const file = join(cacheFolder, `workflows-${await sourceHash()}.js`);
  const kept = await readIfThere(file);
  if (kept !== null) return { code: kept };
  const made = await bundle();
  await mkdir(cacheFolder, { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, made.code);
  await rename(unfinished, file);
  return made;
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function bundle(): Promise<WorkflowBundle> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(FOLDER, 'workflow-entry.ts'),
    logger: SILENT,
  });
  return { code };
}

async function sourceHash(): Promise<string> {
  const hash = createHash('sha256');
  const sdk = import.meta.resolve('@temporalio/workflow');
  hash.update(await readFile(new URL('../package.json', sdk)));
  for (const name of (await readdir(FOLDER)).sort()) {
    if (name.endsWith('.test.ts')) continue;
    hash.update(`\0${name}\0`).update(await readFile(join(FOLDER, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

const quiet = () => undefined;
/** Webpack's notes are of no use to operators; its errors are thrown. */
const SILENT = { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
