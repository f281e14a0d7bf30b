import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDir, findOnPath, ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { step } from '../bootstrap/step.mjs';

const FOLDER = join(ROOT, 'tools/agent-package');
const FILES = ['package.json', 'package-lock.json'];

/**
 * The Node that the agent is shipped with, and postject, which puts the agent into it. About 250 MB, so they are no
 * dependency of the work tree: npm installs them from their own lock file into the cache, once per machine and processor.
 * @param {'x64' | 'arm64'} arch the processor that the agent is for
 * @returns {Promise<{ node: string, postject: string }>} paths
 */
export async function ensureToolchain(arch) {
  const folder = join(cacheDir(), `agent-toolchain-${arch}-${lockHash()}`);
  const found = { node: join(folder, `node_modules/node-linux-${arch}/bin/node`), postject: postjectIn(folder) };
  if (!existsSync(found.node)) {
    await step(`Installing Node for the agent (linux ${arch}), once per machine`, '10-60 s', () =>
      install(folder, arch),
    );
  }
  return found;
}

/** Changes when another Node or postject is asked for. */
export function lockHash() {
  const hash = createHash('sha256');
  for (const file of FILES) hash.update(readFileSync(join(FOLDER, file)));
  return hash.digest('hex').slice(0, 12);
}

/** An unfinished installation never has the final name. */
async function install(folder, arch) {
  const npm = findOnPath('npm');
  if (!npm) throw new SetupError('npm is not on PATH.', 'install npm (it comes with Node), then run this again.');
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  for (const file of FILES) copyFileSync(join(FOLDER, file), join(unfinished, file));
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--os=linux', `--cpu=${arch}`];
  const { code, output } = await runCollected(npm, ['ci', ...flags], { cwd: unfinished });
  if (code !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    throw new SetupError(
      `npm ci of tools/agent-package failed:\n${output.trimEnd()}`,
      'read the lines above; most often the registry was out of reach. When it answers again, run the same command.',
    );
  }
  mkdirSync(dirname(folder), { recursive: true });
  if (existsSync(folder))
    rmSync(unfinished, { recursive: true }); // another process was faster
  else renameSync(unfinished, folder);
}

function postjectIn(folder) {
  return join(folder, 'node_modules/postject/dist/cli.js');
}
