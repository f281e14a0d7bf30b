import { copyFileSync, cpSync, linkSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ensureToolchain } from '../agent-package/toolchain.mjs';
import { ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { buildControlPlane } from '../build/build-controlplane.mjs';
import { ensureTemporal } from '../temporal/ensure.mjs';
import { baseLayer } from './base-layers.mjs';

const SOURCE = join(ROOT, 'deploy/images');
const CONTEXTS = join(ROOT, 'dist/images');

export const IMAGES = { controlplane: 'hoodcloud-controlplane:0.1.0', 'stand-ins': 'hoodcloud-stand-ins:0.1.0' };

/**
 * Builds images without any registry on the engine that DOCKER_HOST names: base layers from Debian packages, Node from npm.
 * @param {('controlplane' | 'stand-ins')[]} names
 * @param {NodeJS.ProcessEnv} env
 */
export async function buildImages(names, env = process.env) {
  if (names.includes('controlplane')) await buildOne('controlplane', await controlPlaneFiles(), env);
  if (names.includes('stand-ins')) await buildOne('stand-ins', await standInFiles(), env);
}

/** Files of the build context by their names there. */
async function controlPlaneFiles() {
  const complaint = await buildControlPlane();
  if (complaint !== undefined) throw new SetupError(complaint, 'mend what the lines above name.');
  return {
    Dockerfile: join(SOURCE, 'Dockerfile.debian'),
    'rootfs.tar': await baseLayer('controlplane'),
    node: (await ensureToolchain(process.arch)).node,
    controlplane: join(ROOT, 'dist/controlplane'),
    'ready.mjs': join(SOURCE, 'ready.mjs'),
  };
}

async function standInFiles() {
  const temporal = await ensureTemporal();
  if (temporal.kind !== 'program' || basename(temporal.path) !== 'temporal-dev-server') {
    throw new SetupError(
      'the stand-in for Temporal is the server of tools/temporal-dev-server.',
      'install Go 1.26 or newer, and unset TEMPORAL_ADDRESS.',
    );
  }
  return {
    Dockerfile: join(SOURCE, 'stand-ins/Dockerfile'),
    'rootfs.tar': await baseLayer('stand-ins'),
    'temporal-dev-server': temporal.path,
    'postgres.sh': join(SOURCE, 'stand-ins/postgres.sh'),
    'temporal.sh': join(SOURCE, 'stand-ins/temporal.sh'),
  };
}

async function buildOne(name, files, env) {
  const context = join(CONTEXTS, name);
  rmSync(context, { recursive: true, force: true });
  mkdirSync(context, { recursive: true });
  try {
    for (const [as, from] of Object.entries(files)) place(from, join(context, as));
    const { code, output } = await runCollected('docker', ['build', '-q', '-t', IMAGES[name], context], { env });
    if (code !== 0)
      throw new SetupError(
        `docker build of ${name} failed:\n${output.trimEnd()}`,
        'see whether an engine answers: docker version',
      );
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** Large files are linked where that is possible. */
function place(from, to) {
  try {
    linkSync(from, to);
  } catch (error) {
    if (error.code === 'EPERM') return void cpSync(from, to, { recursive: true }); // a folder
    if (error.code !== 'EXDEV') throw error;
    copyFileSync(from, to);
  }
}
