import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

const ARCHITECTURES = ['x64', 'arm64'];
const DIST = join(ROOT, 'dist');

/** `package [--arch x64|arm64]`: the agent as operators install it: one program with its own runtime, and a .deb of it. */
export async function run(args) {
  const arch = args.length === 0 ? process.arch : args[1];
  if (args.length > 0 && (args.length !== 2 || args[0] !== '--arch' || !ARCHITECTURES.includes(arch))) {
    console.error(`Usage: npm run package [-- --arch ${ARCHITECTURES.join('|')}]`);
    return 2;
  }
  await setUp();
  const { agentProgram } = await import('../agent-package/agent-program.mjs'); // needs what set-up installs
  const { debianPackage } = await import('../agent-package/debian-package.mjs');
  mkdirSync(DIST, { recursive: true });
  const name = arch === process.arch ? 'hoodcloud-agent' : `hoodcloud-agent-${arch}`;
  const [program, deb] = [await agentProgram(arch), await debianPackage(arch)];
  for (const path of [copyTo(program, name), copyTo(deb, basename(deb))]) console.log(describe(path));
  return 0;
}

/** By a rename: somebody may be running the old one. */
function copyTo(path, name) {
  const target = join(DIST, name);
  copyFileSync(path, `${target}.new`);
  renameSync(`${target}.new`, target);
  return target;
}

function describe(path) {
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
  const megabytes = (statSync(path).size / 2 ** 20).toFixed(1);
  return `✓ ${path.slice(ROOT.length + 1)}  ${megabytes} MB  sha256:${digest}`;
}
