import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { cacheDir, findOnPath, ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { step } from '../bootstrap/step.mjs';
import { agentProgram } from './agent-program.mjs';

const DEPLOY = join(ROOT, 'deploy');
const DEBIAN_ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
/** Every file of the package bears this time, so that the same sources give the same bytes. Seconds since 1970. */
const MTIME = 1_767_225_600;

/** Path on the host → file of deploy/ and its mode. */
const FILES = {
  '/usr/lib/systemd/system/hoodcloud-agent.service': ['systemd/hoodcloud-agent.service', 0o644],
  '/usr/lib/systemd/system/hoodcloud-agent-upgrade.service': ['systemd/hoodcloud-agent-upgrade.service', 0o644],
  '/etc/hoodcloud/agent.yaml': ['agent.yaml', 0o644],
  '/usr/share/doc/hoodcloud-agent/copyright': ['../LICENSE', 0o644],
  '/usr/lib/hoodcloud-agent/remove.sh': ['remove.sh', 0o755],
};
const SCRIPTS = ['preinst', 'postinst', 'prerm', 'postrm'];
const CONTROL = [...SCRIPTS, 'conffiles', 'control'].map((name) => `debian/${name}`);

/**
 * Makes the Debian package; same sources, same bytes. Kept in the cache under the hash of what it is made of.
 * @param {'x64' | 'arm64'} arch
 * @returns {Promise<string>} path of the package
 */
export async function debianPackage(arch = process.arch) {
  const dpkgDeb = findOnPath('dpkg-deb');
  if (!dpkgDeb) {
    throw new SetupError('dpkg-deb is not on PATH.', 'run this on Debian or its kin, or install the package dpkg.');
  }
  const program = await agentProgram(arch);
  const folder = join(cacheDir(), `agent-deb-${arch}-${hashOf(program)}`);
  const target = join(folder, `hoodcloud-agent_${version()}_${DEBIAN_ARCHITECTURES[arch]}.deb`);
  if (existsSync(target)) return target;
  const tree = mkdtempSync(join(tmpdir(), 'hoodcloud-deb-'));
  try {
    layFiles(tree, program);
    layControl(tree, arch);
    setTimes(tree);
    mkdirSync(folder, { recursive: true });
    await step(`Packing ${basename(target)}`, '5-30 s', () => pack(dpkgDeb, tree, target));
    return target;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** An unfinished package never has the final name. */
async function pack(dpkgDeb, tree, target) {
  const unfinished = `${target}.${process.pid}`;
  // not xz: the quarter that it saves costs a minute of one core; threads would make the bytes depend on the machine
  const args = ['--root-owner-group', '-Zgzip', '-z6', '--build', tree, unfinished];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(MTIME) };
  const { code, output } = await runCollected(dpkgDeb, args, { env });
  if (code !== 0) throw new SetupError(`dpkg-deb failed:\n${output.trimEnd()}`, 'read the lines above.');
  renameSync(unfinished, target);
}

/** The program's folder is named after its content. */
function hashOf(program) {
  const sources = [...Object.values(FILES).map(([source]) => source), ...CONTROL, '../CHANGELOG.md'];
  const hash = createHash('sha256')
    .update(dirname(program))
    .update(readFileSync(fileURLToPath(import.meta.url)));
  for (const source of sources) hash.update(`\0${source}\0`).update(readFileSync(join(DEPLOY, source)));
  return hash.digest('hex').slice(0, 16);
}

function layFiles(tree, program) {
  lay(program, join(tree, 'usr/bin/hoodcloud-agent'), 0o755);
  for (const [target, [source, mode]] of Object.entries(FILES)) lay(join(DEPLOY, source), join(tree, target), mode);
  const changelog = gzipSync(readFileSync(join(ROOT, 'CHANGELOG.md')), { level: 9 });
  writeFileSync(join(tree, 'usr/share/doc/hoodcloud-agent/changelog.gz'), changelog, { mode: 0o644 });
}

function layControl(tree, arch) {
  for (const script of SCRIPTS) lay(join(DEPLOY, 'debian', script), join(tree, 'DEBIAN', script), 0o755);
  lay(join(DEPLOY, 'debian/conffiles'), join(tree, 'DEBIAN/conffiles'), 0o644);
  const values = {
    VERSION: version(),
    ARCHITECTURE: DEBIAN_ARCHITECTURES[arch],
    INSTALLED_SIZE: String(Math.ceil(statSync(join(tree, 'usr/bin/hoodcloud-agent')).size / 1024)),
  };
  const control = readFileSync(join(DEPLOY, 'debian/control'), 'utf8').replaceAll(
    /@(\w+)@/g,
    (_, name) => values[name],
  );
  writeFileSync(join(tree, 'DEBIAN/control'), control, { mode: 0o644 });
}

function lay(source, target, mode) {
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  copyFileSync(source, target);
  chmodSync(target, mode);
}

/** Modes of folders too: a umask must not show in the package. */
function setTimes(tree) {
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    lutimesSync(path, MTIME, MTIME);
  }
  chmodSync(tree, 0o755);
  lutimesSync(tree, MTIME, MTIME);
}

function version() {
  return JSON.parse(readFileSync(join(ROOT, 'packages/agent/package.json'), 'utf8')).version;
}

// Usage: node tools/agent-package/debian-package.mjs: builds when needed and prints the path
if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await debianPackage());
