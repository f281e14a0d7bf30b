import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** A program that the Go proxy serves as source. */
export interface GoProgram {
  /** Its name for people, and what the cached files are called after. */
  readonly name: string;
  /** The package that `go install` builds; the last part of its path names the executable. */
  readonly module: string;
  /** How long one build takes on two cores with a cold Go cache. */
  readonly buildSeconds: number;
}

/** A release on this machine, known by its SHA-256: what a program says of its version may be wrong. */
export interface ChainBinary<Release extends string = string> {
  readonly release: Release;
  readonly path: string;
  readonly sha256: string;
}

export interface BuildProgress {
  readonly release: string;
  readonly state: 'cached' | 'building' | 'built';
  readonly elapsedSeconds: number;
  readonly expectedSeconds: number;
}

export interface EnsureOptions {
  /** Where binaries are kept; by default outside the work tree, in the user's cache folder. */
  readonly cacheDir?: string;
  /** Called when a state begins, and every second of a build. */
  readonly onProgress?: (progress: BuildProgress) => void;
  readonly signal?: AbortSignal;
  /** Leaves the processors to whoever wants them: for a build beside a chain that lives. */
  readonly inBackground?: boolean;
}

/** A release could not be built; the message says what to do. */
export class BuildError extends Error {
  readonly code = 'build_failed';
}

/** `$XDG_CACHE_HOME/hoodcloud-rollout/bin`, else the same under `~/.cache`. */
export function defaultCacheDir(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'hoodcloud-rollout', 'bin');
}

/** Whether Go is on the PATH, the one thing that a build needs besides the network. */
export async function goAvailable(): Promise<boolean> {
  return succeeds('go', ['version']);
}

/**
 * Makes sure of one release: takes it from the cache when it runs, else builds it with `go install` and renames it in.
 * @throws BuildError when Go is missing or the build fails
 */
export async function ensureBinary<Release extends string>(
  program: GoProgram,
  release: Release,
  options: EnsureOptions = {},
): Promise<ChainBinary<Release>> {
  const { cacheDir = defaultCacheDir() } = options;
  const path = join(cacheDir, `${program.name.toLowerCase()}-${release}`);
  const progress = progressReporter(program, release, options);
  if (await succeeds(path, ['version'])) progress('cached');
  else {
    progress('building');
    const ticker = setInterval(() => progress('building'), 1000);
    try {
      await build(program, release, cacheDir, path, options);
    } finally {
      clearInterval(ticker);
    }
    progress('built');
  }
  return { release, path, sha256: await sha256Of(path) };
}

/** Makes sure of several releases, one after the other: a build uses every core by itself. */
export async function ensureBinaries<Release extends string>(
  program: GoProgram,
  releases: readonly Release[],
  options: EnsureOptions = {},
): Promise<Record<Release, ChainBinary<Release>>> {
  const found: [Release, ChainBinary<Release>][] = [];
  for (const release of releases) found.push([release, await ensureBinary(program, release, options)]);
  return Object.fromEntries(found) as Record<Release, ChainBinary<Release>>;
}

async function build(
  { name, module }: GoProgram,
  release: string,
  cacheDir: string,
  path: string,
  { signal, inBackground = false }: EnsureOptions,
): Promise<void> {
  if (!(await goAvailable())) {
    throw new BuildError(
      `${name} ${release} is built with Go, and there is no go on the PATH: install Go 1.24 or newer.`,
    );
  }
  await mkdir(cacheDir, { recursive: true });
  const bin = await mkdtemp(join(cacheDir, '.build-'));
  const env = { ...process.env, GOBIN: bin, GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' };
  try {
    const install = ['go', 'install', '-trimpath', '-ldflags=-s -w', `${module}@${release}`] as const;
    const [program, ...args] = inBackground ? (['nice', '-n', '19', ...install] as const) : install;
    await run(program, args, {
      env,
      maxBuffer: 16 << 20,
      ...(signal && { signal }),
    });
    await rename(join(bin, basename(module)), path); // atomic: another build of the same release may run
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new BuildError(
      `go install ${module}@${release} failed: ${lastLines(cause)} Check the network and GOPROXY, then run it again.`,
      { cause },
    );
  } finally {
    await rm(bin, { recursive: true, force: true });
  }
}

function progressReporter({ buildSeconds }: GoProgram, release: string, { onProgress }: EnsureOptions) {
  const started = performance.now();
  return (state: BuildProgress['state']) => {
    const elapsedSeconds = Math.round((performance.now() - started) / 1000);
    onProgress?.({ release, state, elapsedSeconds, expectedSeconds: buildSeconds });
  };
}

async function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  return run(file, args).then(
    () => true,
    () => false,
  );
}

function lastLines(cause: unknown): string {
  const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : String(cause);
  return stderr.trim().split('\n').slice(-3).join(' ');
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
