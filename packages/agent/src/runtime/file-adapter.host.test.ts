import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { checksumOf, FileHashes } from '../host/file-hash.ts';
import { FileAdapter } from './file-adapter.ts';

/** What needs root: capabilities that the kernel grants, file systems, immutable files, a binary that runs meanwhile. */
class BinaryOnly extends FileAdapter {}

const run = promisify(execFile);
const soon = () => AbortSignal.timeout(120_000);
const NOBODY = 65534;

let folder: string;
let binary: string;
let config: string;
let backupDir: string;
let server: ArtifactServer;
let files: BinaryOnly;
const mounts: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-file-adapter-'));
  await chmod(folder, 0o755);
  server = await ArtifactServer.listen();
  binary = join(folder, 'bin', 'node');
  config = join(folder, 'etc', 'config.toml');
  backupDir = join(folder, 'data', '.upgrade-backup', 'attempt-1');
  for (const dir of ['bin', 'etc', 'data']) await mkdir(join(folder, dir));
  await copyFile('/bin/sh', binary);
  await chmod(binary, 0o755);
  await writeFile(config, 'peers = 10\n');
  files = new BinaryOnly({
    installPath: binary,
    configRoots: [join(folder, 'etc')],
    allowHttpHosts: ['127.0.0.1'],
    hashes: new FileHashes(),
  });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
  for (const mount of mounts.splice(0)) execFileSync('umount', [mount]);
  execFileSync('chattr', ['-R', '-i', folder]);
  await rm(folder, { recursive: true, force: true });
});

function mount(...args: string[]): void {
  execFileSync('mount', args);
  mounts.unshift(args.at(-1) ?? '');
}

async function upgrade(): Promise<void> {
  await files.backupState(backupDir, [config], soon());
  const content = Buffer.concat([await readFile('/bin/sh'), Buffer.from('new')]);
  const artifact = { name: 'node', url: server.publish('new', content), checksum: checksumOf(content), member: null };
  const handle = await files.acquireArtifact(artifact, { signal: soon(), backupDirs: [], onProgress: () => undefined });
  await files.verifyArtifact(handle, soon());
  await files.installArtifact(handle, backupDir);
  await files.writeConfig(config, Buffer.from('peers = 100\n'));
}

async function undo(): Promise<void> {
  await files.restoreConfig(backupDir, config);
  await files.restoreArtifact(backupDir);
}

/** Effective capabilities of the binary as nobody, as the kernel has them: 400 is CAP_NET_BIND_SERVICE. */
async function capabilities(): Promise<string> {
  const loop = 'while read -r key value; do if [ "$key" = CapEff: ]; then echo "$value"; fi; done </proc/$$/status';
  const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups', '--', binary, '-c', loop];
  return (await run('setpriv', asNobody)).stdout.trim().replace(/^0+/, '');
}

it('a binary that may bind low ports may so after the upgrade and after the undo, with another owner too (field-case 48)', async () => {
  await chown(binary, NOBODY, NOBODY);
  await run('setcap', ['cap_net_bind_service+ep', binary]);
  expect(await capabilities()).toBe('400');
  await upgrade();
  expect(await capabilities()).toBe('400');
  await undo();
  expect(await capabilities()).toBe('400');
  expect((await stat(binary)).uid).toBe(NOBODY);
});

it('a binary that runs is replaced and put back, and goes on running (field-case 43)', async () => {
  const service = spawn(binary, ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(service, 'spawn');
  await upgrade();
  await undo();
  expect(service.exitCode).toBeNull();
  service.stdin?.end('\n');
  expect(await once(service, 'exit')).toEqual([0, null]);
});

it('backup, binary, config and temporary folder on four file systems: all is staged beside its target (field-cases 42, 45, 46)', async () => {
  for (const dir of ['etc', 'data']) mount('-t', 'tmpfs', 'tmpfs', join(folder, dir));
  await writeFile(config, 'peers = 10\n', { mode: 0o600 });
  vi.stubEnv('TMPDIR', join(folder, 'nowhere'));
  const old = await readFile(binary);
  await upgrade();
  expect(await readFile(config, 'utf8')).toBe('peers = 100\n');
  await undo();
  expect((await readFile(binary)).equals(old)).toBe(true);
  expect((await stat(config)).mode & 0o777).toBe(0o600);
  expect(await readdir(join(folder, 'etc'))).toEqual(['config.toml']);
});

it.each([
  ['an immutable binary', 'immutable', () => immutable(binary)],
  ['an immutable folder of configs', 'immutable', () => immutable(join(folder, 'etc'))],
  ['a config that is a mount point', 'is_mount_point', () => mount('--bind', config, config)],
  ['a read-only file system', 'read_only', () => readOnly(join(folder, 'etc'))],
])('%s is noticed before the stop, and nothing was touched', async (_, code, make) => {
  await make();
  await expect(files.backupState(backupDir, [config], soon())).rejects.toMatchObject({ code });
  expect(await files.isBackedUp(backupDir)).toBe(false);
});

function immutable(path: string): void {
  execFileSync('chattr', ['+i', path]);
}

function readOnly(path: string): void {
  mount('--bind', path, path);
  execFileSync('mount', ['-o', 'remount,bind,ro', path]);
}
