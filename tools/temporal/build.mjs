import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDir, isExecutable, ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { step } from '../bootstrap/step.mjs';

const SOURCE = join(ROOT, 'tools/temporal-dev-server');
const OLDEST_GO = [1, 26]; // an older patch release than go.mod asks for fetches the newer tool chain by itself

/** The Go tool chain of this machine: its version as text and whether it can build the server. */
export function goVersion() {
  const { stdout } = spawnSync('go', ['env', 'GOVERSION'], {
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  });
  const match = /^go(\d+)\.(\d+)/.exec(stdout ?? '');
  if (!match) return { version: undefined, newEnough: false };
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return {
    version: stdout.trim(),
    newEnough: major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1]),
  };
}

/** The finished build of exactly these sources, or undefined. Found without Go too: a copied cache is enough. */
export function cachedDevServer() {
  const path = targetPath();
  return isExecutable(path) ? path : undefined;
}

/** Builds the server into the cache and answers its path; an unfinished build never has the final name. */
export async function buildDevServer() {
  const target = targetPath();
  await step('Building the Temporal server with Go, once per machine', '3-6 min on two cores', async () => {
    mkdirSync(dirname(target), { recursive: true });
    const unfinished = `${target}.${process.pid}`;
    const { code, output } = await runCollected(
      'go',
      ['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w', '-o', unfinished, '.'],
      { cwd: SOURCE, env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' } },
    );
    if (code !== 0) {
      rmSync(unfinished, { force: true });
      throw new SetupError(
        `go build of tools/temporal-dev-server failed:\n${tail(output)}`,
        'if modules could not be fetched, check GOPROXY and the network and run again (what was fetched is kept); or install the `temporal` CLI, or set TEMPORAL_ADDRESS to a running server.',
      );
    }
    renameSync(unfinished, target);
  });
  return target;
}

/** One folder a content: the sources decide, so that another branch's build is never taken for ours. */
function targetPath() {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}`);
  for (const name of readdirSync(SOURCE).sort()) hash.update(`\0${name}\0`).update(readFileSync(join(SOURCE, name)));
  return join(cacheDir(), `temporal-${hash.digest('hex').slice(0, 16)}`, 'temporal-dev-server');
}

function tail(text, lines = 20) {
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}
