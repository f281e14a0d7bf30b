import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandEnd, lastWords, runCommand } from '../host/run-command.ts';
import { RuntimeError } from './runtime-adapter.ts';
import type { ServiceIdentity } from './service-identity.ts';

export interface DryStart {
  /** The new binary, where it lies before it is installed. */
  readonly path: string;
  /** What the chain gives it to answer with exit status 0; null: `--version`, and any answer shows that it runs. */
  readonly wanted: { readonly args: readonly string[]; readonly timeoutMs: number } | null;
  /** Whom the service runs as, without any privilege. */
  readonly identity: ServiceIdentity;
  readonly signal: AbortSignal;
}

const DEFAULT = { args: ['--version'], timeoutMs: 5_000 };
/** What the loaders of glibc and musl say when a library, or a version of one, is missing. */
const LOADER_TROUBLE =
  /error while loading shared libraries|version `[^']+' not found|symbol lookup error|Error (?:loading shared library|relocating)/;

/** Rights to go without, the fewest first. */
const DROPS = [['--inh-caps=-all', '--bounding-set=-all'], ['--inh-caps=-all']] as const;
/**
 * It could not drop that much, or the kernel refuses a file with capabilities (`=ep`) to whoever is bound not to have them
 * (EPERM); the binary itself may be good.
 */
const SETPRIV_TROUBLE =
  /^setpriv: (?!failed to execute)|^setpriv: failed to execute.*Operation not permitted|^spawn setpriv/;

/**
 * Runs the new binary for a moment before the node is stopped (A10, field-case 49): as the service's user, without
 * privileges, in an empty home, so that it finds neither data nor keys. It is a trial of ours and is ended when its time is up.
 * @throws RuntimeError `not_executable` with the binary's own words; `dry_start_failed` when it doesn't answer as the chain says
 */
export async function requireStarts(dryStart: DryStart): Promise<void> {
  const { wanted, signal } = dryStart;
  const home = await emptyHome();
  try {
    if (process.getuid?.() === 0) await chown(home, dryStart.identity.uid, dryStart.identity.gid);
    const answer = await answerOf(dryStart, home);
    signal.throwIfAborted();
    if (dryStart.identity.guessed && answer.code === 126) return; // only the real user's rights would say something
    requireRan(answer);
    if (wanted !== null) requireAnswered(answer, wanted);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The folder for temporary files may be gone or full: that is no fault of the new binary. */
async function emptyHome(): Promise<string> {
  const name = 'hoodcloud-dry-start-';
  return mkdtemp(join(tmpdir(), name)).catch(() => mkdtemp(join('/run', name)));
}

/** With as few rights as this agent can leave it: one in a container, or hardened by its unit, may not give up all of them. */
async function answerOf(dryStart: DryStart, home: string): Promise<CommandEnd> {
  const { path, identity } = dryStart;
  if (process.getuid?.() !== 0) return run([path], dryStart, home);
  for (const drop of DROPS) {
    const answer = await run([...withoutPrivileges(identity, drop), path], dryStart, home);
    if (!SETPRIV_TROUBLE.test(answer.output)) return answer;
  }
  return run([path], dryStart, home);
}

/** Twice: the first one still may do everything when it executes, so that the right of the user would not be checked. */
function withoutPrivileges({ uid, gid, groups }: ServiceIdentity, drop: readonly string[]): string[] {
  const group = groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`;
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, group, ...drop, 'setpriv', '--no-new-privs'];
}

function run(program: readonly string[], { wanted, identity, signal }: DryStart, home: string): Promise<CommandEnd> {
  const { args, timeoutMs } = wanted ?? DEFAULT;
  const [file = '', ...before] = program;
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: home, TMPDIR: home, LANG: 'C', ...identity.loaderEnv };
  const asUser = file !== 'setpriv' && process.getuid?.() === 0;
  const user = asUser ? { uid: identity.uid, gid: identity.gid } : {};
  return runCommand({ program: file, args: [...before, ...args], env, cwd: home, timeoutMs, ...user }, signal);
}

function requireRan({ output, code, killedBy, timedOut }: CommandEnd): void {
  if (timedOut) return;
  const words = lastWords(output);
  if (killedBy !== null) {
    throw new RuntimeError(
      'not_executable',
      `the new binary can't run on this host: it was ended by ${killedBy} at once${words}; was it built for another processor?`,
    );
  }
  if (code !== 126 && code !== 127 && !LOADER_TROUBLE.test(output)) return;
  throw new RuntimeError(
    'not_executable',
    `the new binary can't run on this host${words}: install what it misses, or take a build for this system`,
  );
}

function requireAnswered(
  { output, code, timedOut }: CommandEnd,
  { args, timeoutMs }: NonNullable<DryStart['wanted']>,
): void {
  if (code === 0 && !timedOut) return;
  const how = timedOut ? `gave no answer within ${timeoutMs} ms` : `ended with exit status ${code}`;
  throw new RuntimeError(
    'dry_start_failed',
    `the new binary ${how} when it was tried with "${args.join(' ')}"${lastWords(output)}: correct the binary, or dry_start in the chain's runtime.yaml`,
  );
}
