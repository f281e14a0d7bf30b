import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { cacheDir, ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { step } from '../bootstrap/step.mjs';
import { buildDashboard } from './build-dashboard.mjs';
import { fingerprint } from './fingerprint.mjs';
import { NATIVE_NAME, temporalWorker } from './temporal-worker.mjs';

const SOURCE = join(ROOT, 'packages/controlplane/src');
const SDK = join(ROOT, 'node_modules/@temporalio');
/** What a build depends on. */
const SOURCES = [
  'packages/controlplane/src',
  'packages/controlplane/package.json',
  'packages/contracts/src',
  'packages/domain/src',
  'package-lock.json',
  'tools/build',
];

/** Temporal's names of the platforms that its native part comes for. */
const NATIVE_TARGETS = { x64: 'x86_64-unknown-linux-gnu', arm64: 'aarch64-unknown-linux-gnu' };

/** What the program reads beside itself → where the source tree has it. */
const BESIDE = {
  migrations: join(SOURCE, 'db/migrations'),
  'go-template-worker.mjs': join(SOURCE, 'config-rendering/go-template-worker.mjs'),
  'go-template.wasm.gz': join(SOURCE, 'config-rendering/go-template.wasm.gz'),
  'mappings.wasm': join(ROOT, 'node_modules/source-map/lib/mappings.wasm'), // of the SDK, for the stacks of workflows
  LICENSE: join(ROOT, 'LICENSE'),
};

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true, // names stay: they are in stacks and in logs
  legalComments: 'none',
  external: ['pg-native'], // pg asks for it and goes on without
  plugins: [temporalWorker],
  logLevel: 'warning',
  logOverride: { 'require-resolve-not-external': 'silent' }, // of the SDK's debugger, which nobody starts
};

/**
 * `dist/controlplane`: the control plane with its dashboard as one folder that runs wherever Node does (decision 0025).
 * @param {'x64' | 'arm64'} arch the processor it is for
 * @returns {Promise<string | undefined>} what went wrong
 */
export async function buildControlPlane(arch = process.arch) {
  const complaint = await buildDashboard();
  if (complaint !== undefined) return complaint;
  const target = join(ROOT, 'dist/controlplane');
  const unfinished = `${target}.${process.pid}`;
  cpSync(await controlPlaneProgram(arch), unfinished, { recursive: true });
  cpSync(join(ROOT, 'dist/dashboard'), join(unfinished, 'dashboard'), { recursive: true });
  rmSync(target, { recursive: true, force: true });
  renameSync(unfinished, target);
  return undefined;
}

/**
 * The same without the dashboard, kept in the cache under the hash of what it was built from: the program, Temporal's
 * native part and its thread, workflow code bundled, migrations, the template engine. No `node_modules`.
 * @param {'x64' | 'arm64'} arch
 * @returns {Promise<string>} path of the folder; the program in it is `hoodcloud.mjs`
 */
export async function controlPlaneProgram(arch = process.arch) {
  const target = join(cacheDir(), `controlplane-${arch}-${fingerprint(SOURCES).slice(0, 16)}`);
  if (!existsSync(target)) {
    await step(`Building the control plane for linux ${arch}`, '5-20 s', () => assemble(target, arch));
  }
  return target;
}

/** An unfinished build never has the final name. */
async function assemble(target, arch) {
  const unfinished = `${target}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await Promise.all([bundlePrograms(unfinished), bundleWorkflows(join(unfinished, 'workflow-bundle.cjs'))]);
    for (const [name, from] of Object.entries(BESIDE)) cpSync(from, join(unfinished, name), { recursive: true });
    cpSync(join(SDK, 'core-bridge/releases', NATIVE_TARGETS[arch], 'index.node'), join(unfinished, NATIVE_NAME));
    writeFileSync(join(unfinished, 'package.json'), manifest());
    mkdirSync(dirname(target), { recursive: true });
    if (!existsSync(target)) renameSync(unfinished, target); // another process may have been faster
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function bundlePrograms(folder) {
  await build({
    ...COMMON,
    entryPoints: [join(SOURCE, 'bin/hoodcloud.ts')],
    // in parts, so that a role reads into memory only what it needs
    splitting: true,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    // CommonJS libraries inside an ES module ask for `require`; the other name is one that no library has
    banner: {
      js: "import { createRequire as hoodcloudRequire } from 'node:module'; const require = hoodcloudRequire(import.meta.url);",
    },
  });
  // the SDK starts this thread by a path relative to itself, which is now the program's folder
  await build({
    ...COMMON,
    entryPoints: [join(SDK, 'worker/lib/workflow/workflow-worker-thread.js')],
    outfile: join(folder, 'workflow-worker-thread.js'),
    format: 'cjs',
  });
}

async function bundleWorkflows(file) {
  const program = ['--import', 'tsx', 'tools/build/workflow-bundle.ts', file];
  const { code, output } = await runCollected(process.execPath, program);
  if (code === 0) return;
  throw new SetupError(
    `workflow code could not be bundled:\n${output.trimEnd()}`,
    'mend what the lines above name, then run it again.',
  );
}

/** Without `type`: the thread of the SDK is CommonJS. */
function manifest() {
  const { version, license, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return `${JSON.stringify({ name: 'hoodcloud-controlplane', version, license, private: true, engines }, null, 2)}\n`;
}
