import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { BINDS_LOW_PORTS, READ_BY_65533, setExtendedAttributes } from '@hoodcloud/testkit/extended-attributes';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { extendedAttributesOf } from '../host/extended-attributes.ts';
import { checksumOf, FileHashes } from '../host/file-hash.ts';
import { FileAdapter } from './file-adapter.ts';
import { testArtifact } from './test-artifacts.ts';

class BinaryOnly extends FileAdapter {}

const run = promisify(execFile);
const asRoot = process.getuid?.() === 0;
const signal = AbortSignal.timeout(60_000);
const LABEL = Buffer.from('system_u:object_r:bin_t:s0\0');

let folder: string;
let binary: string;
let config: string;
let backupDir: string;
let server: ArtifactServer;
let files: BinaryOnly;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-attributes-'));
  server = await ArtifactServer.listen();
  binary = join(folder, 'bin', 'node');
  config = join(folder, 'etc', 'config.toml');
  backupDir = join(folder, 'data', '.upgrade-backup', 'attempt-1');
  for (const dir of ['bin', 'etc']) await mkdir(join(folder, dir));
  await writeFile(binary, await testArtifact('runs'));
  await writeFile(config, 'peers = 10\n');
  await chmod(binary, 0o750);
  await chmod(config, 0o640);
  if (asRoot) {
    await chown(binary, 65534, 65533);
    await chown(config, 65533, 65534);
  }
  await setExtendedAttributes(binary, {
    'system.posix_acl_access': READ_BY_65533,
    'user.origin': Buffer.from([0, 255, 10, 61]),
    ...(asRoot ? { 'security.capability': BINDS_LOW_PORTS, 'security.selinux': LABEL, 'trusted.mark': LABEL } : {}),
  });
  await setExtendedAttributes(config, { 'system.posix_acl_access': READ_BY_65533, 'user.note': Buffer.from('mine') });
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
  await rm(folder, { recursive: true, force: true });
});

async function looksOf(path: string) {
  const { mode, uid, gid } = await stat(path);
  return { mode, uid, gid, ...(await extendedAttributesOf(path)) };
}

async function acquire() {
  const content = Buffer.concat([await testArtifact('runs'), Buffer.from('new')]);
  const artifact = { name: 'node', url: server.publish('new', content), checksum: checksumOf(content), member: null };
  return files.acquireArtifact(artifact, { signal, backupDirs: [], onProgress: () => undefined });
}

async function upgrade(): Promise<void> {
  await files.backupState(backupDir, [config], signal);
  const handle = await acquire();
  await files.verifyArtifact(handle, signal);
  await files.installArtifact(handle, backupDir);
  await files.writeConfig(config, Buffer.from('peers = 100\n'));
}

it('gives the new binary owner, mode, ACL, capabilities, label and attributes of the old one (A8, field-cases 48, 49)', async () => {
  const before = await looksOf(binary);
  expect(before.names.length).toBe(asRoot ? 5 : 2);
  await upgrade();
  expect(await looksOf(binary)).toEqual(before);
  if (asRoot) expect((await run('getcap', [binary])).stdout).toContain('cap_net_bind_service=ep');
});

it('gives a replaced config all that the old one had (A8)', async () => {
  const before = await looksOf(config);
  await upgrade();
  expect(await looksOf(config)).toEqual(before);
  expect(await readFile(config, 'utf8')).toBe('peers = 100\n');
});

it('brings all of it back by the undo, whatever became of it meanwhile (field-case 46)', async () => {
  const before = [await looksOf(binary), await looksOf(config)];
  await upgrade();
  for (const path of [binary, config]) {
    await rm(path);
    await writeFile(path, 'somebody else', { mode: 0o600 });
  }
  await files.restoreConfig(backupDir, config);
  await files.restoreArtifact(backupDir);
  expect([await looksOf(binary), await looksOf(config)]).toEqual(before);
});

it('puts a file back whose content is as before and whose attributes are not', async () => {
  const before = await looksOf(binary);
  await files.backupState(backupDir, [], signal);
  await chmod(binary, 0o700);
  await setExtendedAttributes(binary, { 'user.origin': Buffer.from('other') });
  await files.restoreArtifact(backupDir);
  expect(await looksOf(binary)).toEqual(before);
});

it('takes what the binary has at the moment of the swap, when it was changed after the check', async () => {
  const handle = await acquire();
  await files.verifyArtifact(handle, signal);
  await setExtendedAttributes(binary, { 'user.late': Buffer.from('1') });
  const before = await looksOf(binary);
  await files.installArtifact(handle, backupDir);
  expect(await looksOf(binary)).toEqual(before);
});

it('lets no ACL of the folder open a config that had none', async () => {
  const plain = join(folder, 'etc', 'secret.toml');
  await writeFile(plain, 'key\n');
  await chmod(plain, 0o640);
  await setExtendedAttributes(join(folder, 'etc'), { 'system.posix_acl_default': READ_BY_65533 });
  const before = await looksOf(plain);
  await files.backupState(backupDir, [plain], signal);
  await files.writeConfig(plain, Buffer.from('new key\n'));
  expect(await looksOf(plain)).toEqual(before);
  await files.restoreConfig(backupDir, plain);
  expect(await looksOf(plain)).toEqual(before);
});

it('restores nothing from a backup whose kept attributes were changed (A12)', async () => {
  await upgrade();
  await setExtendedAttributes(join(backupDir, 'attributes', 'binaries', 'node'), { 'user.origin': Buffer.from('x') });
  expect(await files.isBackedUp(backupDir)).toBe(false);
  const before = await readFile(binary);
  await expect(files.restoreArtifact(backupDir)).rejects.toMatchObject({ code: 'backup_corrupt' });
  expect((await readFile(binary)).equals(before)).toBe(true);
});

describe('is refused before the stop, with the package to install, when the host has', () => {
  const shim = async (name: string, script: string) => {
    await mkdir(join(folder, 'path'), { recursive: true });
    await writeFile(join(folder, 'path', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    vi.stubEnv('PATH', join(folder, 'path'));
  };

  it.each([
    ['no cp', 'tar', 'exit 0', /cp is not GNU's.*install the package coreutils/],
    [
      'a cp that is not GNU’s',
      'cp',
      'echo "cp: unrecognized option: attributes-only" >&2; exit 1',
      /package coreutils/,
    ],
    ['no tar', 'cp', 'exit 0', /tar is not GNU's.*install the package tar/],
  ])('%s', async (_, name, script, sentence) => {
    await shim(name, script);
    const backup = files.backupState(backupDir, [config], signal);
    await expect(backup).rejects.toMatchObject({
      code: 'attributes_unsupported',
      message: expect.stringMatching(sentence),
    });
    vi.unstubAllEnvs();
    expect(await files.isBackedUp(backupDir)).toBe(false);
  });

  it('a file system for the backup that keeps fewer attributes', async () => {
    const cp = (await run('sh', ['-c', 'command -v cp'])).stdout.trim();
    const tar = (await run('sh', ['-c', 'command -v tar'])).stdout.trim();
    await shim('cp', `exec ${cp} --attributes-only --preserve=mode,ownership "$3" "$4" "$5"`);
    await shim('tar', `exec ${tar} "$@"`);
    const backup = files.backupState(backupDir, [], signal);
    await expect(backup).rejects.toMatchObject({
      code: 'attributes_unsupported',
      message: expect.stringMatching(/user\.origin.* can't be kept in/),
    });
  });
});

it.runIf(asRoot)(
  'refuses a binary that is sealed by IMA before the stop: the seal fits the old content only',
  async () => {
    await setExtendedAttributes(binary, { 'security.ima': Buffer.from([4, 4]) });
    const handle = await acquire();
    await expect(files.verifyArtifact(handle, signal)).rejects.toMatchObject({ code: 'attributes_unsupported' });
  },
);
