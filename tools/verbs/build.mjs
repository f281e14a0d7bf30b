import { setUp } from '../bootstrap/set-up.mjs';
import { buildDashboard } from '../build/build-dashboard.mjs';
import { buildProgram, PROGRAM_FILES } from '../build/build-program.mjs';

/** What is built as a folder → the folder. */
const FOLDERS = { dashboard: 'dist/dashboard', controlplane: 'dist/controlplane' };
const ARCHITECTURES = ['x64', 'arm64'];

/** `build [cli|agent|dashboard|controlplane …] [--arch x64|arm64]`: programs as one file each, the rest as folders. */
export async function run(args) {
  const { names, arch } = parse(args);
  const known = [...Object.keys(PROGRAM_FILES), ...Object.keys(FOLDERS)];
  const wanted = names.length > 0 ? names : known;
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0 || !ARCHITECTURES.includes(arch)) {
    console.error(`Usage: npm run build -- [${known.join('|')} …] [--arch ${ARCHITECTURES.join('|')}]`);
    return 2;
  }
  await setUp();
  for (const name of wanted) {
    const complaint = await buildOne(name, arch);
    if (complaint !== undefined) {
      console.error(complaint.trimEnd());
      return 1;
    }
    console.log(`✓ ${PROGRAM_FILES[name] ?? FOLDERS[name]}`);
  }
  return 0;
}

function parse(args) {
  const at = args.indexOf('--arch');
  if (at === -1) return { names: args, arch: process.arch };
  return { names: args.toSpliced(at, 2), arch: args[at + 1] };
}

async function buildOne(name, arch) {
  if (name === 'dashboard') return buildDashboard();
  if (name === 'controlplane') {
    const { buildControlPlane } = await import('../build/build-controlplane.mjs'); // needs what set-up installs
    return buildControlPlane(arch);
  }
  return buildProgram(name);
}
