import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { cacheDir, ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { step } from '../bootstrap/step.mjs';
import { engineClientOnly } from '../build/engine-client.mjs';
import { ensureToolchain, lockHash } from './toolchain.mjs';

/** Node looks for the agent inside itself when this fuse is flipped; the value is Node's own. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * A daemon that waits most of its life: a small young generation and no optimizing compilers keep it small (7 MB resident
 * less for the last two; about 70 MB connected and idle under its unit, which has malloc give back what was needed for a
 * moment). No code cache: it would differ from build to build.
 */
const SEA_CONFIG = {
  main: 'agent.cjs',
  output: 'agent.blob',
  disableExperimentalSEAWarning: true,
  useCodeCache: false,
  execArgv: ['--optimize-for-size', '--max-semi-space-size=1', '--no-opt', '--no-maglev'],
  execArgvExtension: 'none',
};

/**
 * The agent as one file with its own runtime (a Node single executable). The same sources give the same bytes; what was
 * built is kept in the cache under the hash of what it was built from.
 * @param {'x64' | 'arm64'} arch
 * @returns {Promise<string>} path of the program
 */
export async function agentProgram(arch = process.arch) {
  const script = await bundle();
  const hash = createHash('sha256').update(script).update(JSON.stringify(SEA_CONFIG)).update(lockHash());
  const target = join(cacheDir(), `agent-${arch}-${hash.digest('hex').slice(0, 16)}`, 'hoodcloud-agent');
  if (!existsSync(target)) {
    const { node, postject } = await ensureToolchain(arch);
    const builder = arch === process.arch ? node : (await ensureToolchain(process.arch)).node;
    await step(`Building hoodcloud-agent for linux ${arch}`, '10-20 s', () =>
      assemble({ script, node, builder, postject, target }),
    );
  }
  return target;
}

/** CommonJS, which is what a single executable runs. */
async function bundle() {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'packages/agent/src/bin/hoodcloud-agent.ts')],
    absWorkingDir: ROOT,
    write: false,
    bundle: true,
    minify: true,
    keepNames: true, // names of errors are told to people
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    legalComments: 'none',
    plugins: [engineClientOnly],
    logLevel: 'warning',
    logOverride: { 'empty-import-meta': 'silent' }, // only what runs from source asks where it is
  });
  return Buffer.from(outputFiles[0].contents);
}

/** An unfinished program never has the final name. */
async function assemble({ script, node, builder, postject, target }) {
  mkdirSync(cacheDir(), { recursive: true });
  const folder = mkdtempSync(join(cacheDir(), 'building-agent-'));
  try {
    writeFileSync(join(folder, SEA_CONFIG.main), script);
    writeFileSync(join(folder, 'sea.json'), JSON.stringify(SEA_CONFIG));
    await does(builder, ['--experimental-sea-config', 'sea.json'], folder);
    const program = join(folder, 'hoodcloud-agent');
    copyFileSync(node, program);
    chmodSync(program, 0o755);
    const inject = [postject, program, 'NODE_SEA_BLOB', SEA_CONFIG.output, '--sentinel-fuse', FUSE];
    await does(process.execPath, inject, folder);
    mkdirSync(dirname(target), { recursive: true });
    renameSync(program, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function does(program, args, cwd) {
  const { code, output } = await runCollected(program, args, { cwd });
  if (code === 0) return;
  throw new SetupError(
    `${program} ${args[0]} ended with ${code}:\n${output.trimEnd()}`,
    'read the lines above; most often the disk is full. What was built before is kept.',
  );
}

// Usage: node tools/agent-package/agent-program.mjs: builds when needed and prints the path
if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await agentProgram());
