import { execFileSync } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumOf, FileHashes } from '../host/file-hash.ts';
import { FileAdapter } from './file-adapter.ts';
import type { WantedArtifact } from './runtime-adapter.ts';
import { testArtifact } from './test-artifacts.ts';

class BinaryOnly extends FileAdapter {}

let folder: string;
let binary: string;
let config: string;
let backupDir: string;
let server: ArtifactServer;
let files: BinaryOnly;
const signal = AbortSignal.timeout(60_000);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-files-'));
  server = await ArtifactServer.listen();
  binary = join(folder, 'bin', 'node');
  config = join(folder, 'etc', 'config.toml');
  backupDir = join(folder, 'data', '.upgrade-backup', 'attempt-1');
  for (const dir of ['bin', 'etc']) await mkdir(join(folder, dir));
  await writeFile(binary, await testArtifact('runs'));
  await chmod(binary, 0o750);
  await writeFile(config, 'peers = 10\n', { mode: 0o600 });
  if (process.getuid?.() === 0) {
    await chown(binary, 65534, 65533);
    await chown(config, 65533, 65534);
  }
  await utimes(binary, 1_000_000, 1_000_000);
  files = artifactAt(binary);
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function artifactAt(installPath: string, signedBy?: string[]): BinaryOnly {
  return new BinaryOnly({
    installPath,
    configRoots: [join(folder, 'etc')],
    allowHttpHosts: ['127.0.0.1'],
    ...(signedBy && { signedBy }),
    hashes: new FileHashes(),
  });
}

async function offer() {
  const content = await testArtifact('runs');
  return { name: 'node', url: server.publish('new', content), checksum: checksumOf(content), member: null };
}

const acquire = async () =>
  files.acquireArtifact(await offer(), { signal, backupDirs: [], onProgress: () => undefined });

/** Everything of binary and configs that an undo must bring back: names, content, mode, owner, time. */
async function snapshot(): Promise<unknown> {
  const found: unknown[] = [];
  for (const dir of ['bin', 'etc']) {
    for (const name of (await readdir(join(folder, dir))).sort()) {
      const path = join(folder, dir, name);
      const { mode, uid, gid, mtimeMs } = await stat(path);
      const content = checksumOf(await readFile(path));
      found.push({ path, content, mode, uid, gid, mtimeMs: Math.floor(mtimeMs) }); // Node sets times to the microsecond
    }
  }
  return found;
}

it('gives the new binary the owner and mode of the old one (A8)', async () => {
  const before = await stat(binary);
  await files.installArtifact(await acquire(), backupDir);
  const { mode, uid, gid } = await stat(binary);
  expect({ mode, uid, gid }).toEqual({ mode: before.mode, uid: before.uid, gid: before.gid });
});

it('follows a link at the install path and leaves it in place (A8, field-case 50)', async () => {
  const link = join(folder, 'current');
  await symlink(binary, link);
  files = artifactAt(link);
  const handle = await acquire();
  await files.installArtifact(handle, backupDir);
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
  expect(checksumOf(await readFile(binary))).toBe(handle.installedChecksum);
});

describe('an archive', () => {
  /** The node's binary as the member `bin/node` of a `.tar.gz`, with another file beside it. */
  async function offerArchive(name = 'new.tar.gz') {
    const content = await testArtifact('runs');
    const source = join(folder, 'source');
    await mkdir(join(source, 'bin'), { recursive: true });
    await writeFile(join(source, 'bin', 'node'), content, { mode: 0o600 });
    await writeFile(join(source, 'LICENSE'), 'free');
    const archive = execFileSync('tar', ['-cz', 'bin', 'LICENSE'], { cwd: source });
    const artifact = {
      name: 'node',
      url: server.publish(name, archive),
      checksum: checksumOf(archive),
      member: 'bin/node',
    };
    return { artifact, installed: checksumOf(content) };
  }

  const fetchIt = (artifact: WantedArtifact, backupDirs: string[] = []) =>
    files.acquireArtifact(artifact, { signal, backupDirs, onProgress: () => undefined });

  it('gives its member, by the checksum of the member (A6), readable before the stop (field-case 31)', async () => {
    const { artifact, installed } = await offerArchive();
    const handle = await fetchIt(artifact);
    expect(handle.installedChecksum).toBe(installed);
    expect((await stat(handle.location)).mode & 0o7777).toBe((await stat(binary)).mode & 0o7777);
    expect((await readdir(join(folder, 'bin'))).sort()).toEqual(['.download-node', 'node']);
    await files.verifyArtifact(handle, signal);
    await files.installArtifact(handle, backupDir);
    expect(await files.isArtifactInstalled(installed)).toBe(true);
    expect(await files.isArtifactInstalled(artifact.checksum)).toBe(false);
  });

  it('is found again by what its member hashed to, never by the checksum of the archive', async () => {
    const { artifact, installed } = await offerArchive();
    const handle = await fetchIt(artifact);
    expect(await files.findAcquiredArtifact(artifact)).toBeNull();
    const known = { ...artifact, installedChecksum: installed };
    expect(await files.findAcquiredArtifact(known)).toMatchObject({
      location: handle.location,
      installedChecksum: installed,
    });
  });

  it('needs no network when a backup holds its member (A12a)', async () => {
    const { artifact, installed } = await offerArchive();
    await files.installArtifact(await fetchIt(artifact), backupDir);
    await files.backupState(backupDir, [], signal);
    await files.installArtifact(await acquire(), backupDir);
    server.publish('new.tar.gz', '', { kind: 'status', status: 500 });
    const before = server.requestsFor('new.tar.gz').length;
    const handle = await fetchIt({ ...artifact, installedChecksum: installed }, [backupDir]);
    expect(handle.installedChecksum).toBe(installed);
    expect(server.requestsFor('new.tar.gz')).toHaveLength(before);
  });

  it.each([
    ['lacks the member', (artifact: WantedArtifact) => ({ ...artifact, member: 'bin/other' }), 'member_missing'],
    ['is no archive', (artifact: WantedArtifact) => artifact, 'archive_unsupported'],
    [
      'is another one than the manifest says',
      (artifact: WantedArtifact) => ({ ...artifact, checksum: checksumOf('x') }),
      'checksum_mismatch',
    ],
    [
      'gives another member than this node once had',
      (artifact: WantedArtifact) => ({ ...artifact, installedChecksum: checksumOf('x') }),
      'checksum_mismatch',
    ],
  ])('that %s leaves nothing behind and touches nothing', async (what, change, code) => {
    const { artifact } = await offerArchive();
    const page = Buffer.from('<html>moved</html>');
    const offered =
      what === 'is no archive'
        ? { ...artifact, url: server.publish('page', page), checksum: checksumOf(page) }
        : artifact;
    const before = await snapshot();
    await expect(fetchIt(change(offered))).rejects.toMatchObject({ code });
    expect(await snapshot()).toEqual(before);
  });

  it('that a crash left half unpacked is cleared away by the undo (field-case 39)', async () => {
    const { artifact } = await offerArchive();
    const before = await snapshot();
    for (const leftover of ['', '.part', '.fetched', '.fetched.part']) {
      await writeFile(join(folder, 'bin', `.download-node${leftover}`), 'half');
    }
    await files.discardArtifact(artifact);
    expect(await snapshot()).toEqual(before);
  });
});

describe('a demanded signature', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const url = () => `${server.origin}/new.sigstore.json`;

  /** @param signed content of which the bundle is; null: there is no bundle at its address */
  async function offerSigned(signed: 'this one' | 'another' | null): Promise<WantedArtifact> {
    const artifact = await offer();
    const content = signed === 'this one' ? server.contentOf('new') : 'another';
    const base64Signature = createSign('SHA256').update(content).sign(privateKey).toString('base64');
    if (signed !== null) server.publish('new.sigstore.json', JSON.stringify({ base64Signature }));
    return { ...artifact, signature: { format: 'cosign_bundle', url: url() }, signedBy: [key] };
  }
  const fetchIt = (artifact: WantedArtifact, backupDirs: string[] = []) =>
    files.acquireArtifact(artifact, { signal, backupDirs, onProgress: () => undefined });

  it('lets the artifact of its publisher in, and leaves nothing beside it', async () => {
    const artifact = await offerSigned('this one');
    expect((await fetchIt(artifact)).installedChecksum).toBe(artifact.checksum);
    expect((await readdir(join(folder, 'bin'))).sort()).toEqual(['.download-node', 'node']);
  });

  it('refuses what somebody else has published, though its checksum is right: nothing is touched (field-case 25)', async () => {
    const before = await snapshot();
    const artifact = await offerSigned('another');
    await expect(fetchIt(artifact)).rejects.toMatchObject({ code: 'signature_invalid' });
    expect(await files.findAcquiredArtifact(artifact)).toBeNull();
    expect(await snapshot()).toEqual(before);
  });

  it.each([
    ['names none', (artifact: WantedArtifact) => ({ ...artifact, signature: undefined }), 'signature_missing'],
    ['names one that is not there', (artifact: WantedArtifact) => artifact, 'download_refused'],
  ])('keeps the large file away when the manifest %s', async (_, change, code) => {
    const { signature, ...rest } = change(await offerSigned(null));
    const artifact = signature === undefined ? rest : { ...rest, signature };
    await expect(fetchIt(artifact)).rejects.toMatchObject({ code });
    expect(server.requestsFor('new')).toEqual([]);
  });

  it("is the agent's own file's before the chain's", async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey;
    files = artifactAt(binary, [other.export({ type: 'spki', format: 'pem' }).toString()]);
    const refused = { code: 'signature_invalid', message: expect.stringContaining("agent's own configuration") };
    await expect(fetchIt(await offerSigned('this one'))).rejects.toMatchObject(refused);
  });

  it('is not asked of what this host ran before: a way back needs no network (A12a)', async () => {
    await files.backupState(backupDir, [], signal);
    const checksum = checksumOf(await readFile(binary));
    const back = { name: 'node', url: '', checksum, member: null, signedBy: [key] };
    expect((await fetchIt(back, [backupDir])).installedChecksum).toBe(checksum);
  });
});

it('says that it has no address and no backup, when a way back is nowhere to be found', async () => {
  const artifact = { ...(await offer()), url: '' };
  const acquired = files.acquireArtifact(artifact, { signal, backupDirs: [], onProgress: () => undefined });
  await expect(acquired).rejects.toMatchObject({ code: 'artifact_unavailable' });
});

it('verifies what is on the disk, not what it remembers', async () => {
  const handle = await acquire();
  const { atime, mtime, size } = await stat(handle.location);
  await writeFile(handle.location, Buffer.alloc(size));
  await utimes(handle.location, atime, mtime);
  await expect(files.verifyArtifact(handle, signal)).rejects.toMatchObject({ code: 'checksum_mismatch' });
});

it('keeps two configs of one name apart in the backup', async () => {
  const other = join(folder, 'etc', 'other', 'config.toml');
  await mkdir(join(folder, 'etc', 'other'));
  await writeFile(other, 'other\n');
  await files.backupState(backupDir, [config, other], signal);
  await files.writeConfig(config, Buffer.from('x'));
  await files.writeConfig(other, Buffer.from('y'));
  await files.restoreConfig(backupDir, config);
  await files.restoreConfig(backupDir, other);
  expect(await readFile(config, 'utf8')).toBe('peers = 10\n');
  expect(await readFile(other, 'utf8')).toBe('other\n');
  expect((await readdir(join(backupDir, 'configs'))).sort()).toEqual(['2-config.toml', 'config.toml']);
});

it('backs up what an undo needs and nothing of the data, however much there is (field-case 41)', async () => {
  const data = join(folder, 'data');
  await mkdir(data, { recursive: true });
  await writeFile(join(data, 'chain.db'), Buffer.alloc(4_000_000));
  await writeFile(join(folder, 'etc', 'untouched.toml'), 'x = 1\n');
  await files.backupState(backupDir, [config], signal);
  const kept = await readdir(backupDir, { recursive: true, withFileTypes: true });
  const names = kept.filter((entry) => entry.isFile()).map(({ name }) => name);
  expect([...new Set(names)].sort()).toEqual(['config.toml', 'manifest.json', 'node']); // each with its attributes' copy
});

it('lets nobody else read a backup: configs hold secrets', async () => {
  await files.backupState(backupDir, [config], signal);
  expect((await stat(join(backupDir, 'configs', 'config.toml'))).mode & 0o777).toBe(0o600);
  expect((await stat(join(backupDir, 'configs'))).mode & 0o777).toBe(0o700);
});

it('touches no file that is as it was: an undo of what never ran changes no inode', async () => {
  await files.backupState(backupDir, [config], signal);
  const before = (await stat(binary)).ino;
  await files.restoreArtifact(backupDir);
  expect((await stat(binary)).ino).toBe(before);
});

it.each(['original', 'copy in the manifest', 'copy on the disk'])(
  'restores nothing when the checksum of the %s differs (A12)',
  async (which) => {
    await files.backupState(backupDir, [config], signal);
    await files.installArtifact(await acquire(), backupDir);
    const before = await snapshot();
    const path = join(backupDir, 'manifest.json');
    const manifest = JSON.parse(await readFile(path, 'utf8'));
    if (which === 'original') manifest.artifact.content.originalChecksum = checksumOf('x');
    if (which === 'copy in the manifest') manifest.artifact.content.copyChecksum = checksumOf('x');
    await writeFile(path, JSON.stringify(manifest));
    if (which === 'copy on the disk') await writeFile(join(backupDir, 'binaries', 'node'), 'x');
    await expect(files.restoreArtifact(backupDir)).rejects.toMatchObject({ code: 'backup_corrupt' });
    expect(await snapshot()).toEqual(before);
  },
);

it('brings back content, mode, owner and time of every file, wherever the change stopped and however often it undoes', async () => {
  const fresh = join(folder, 'etc', 'new.toml');
  await files.backupState(backupDir, [config, fresh], signal);
  const before = await snapshot();
  const undo = [
    () => files.restoreConfig(backupDir, config),
    () => files.restoreConfig(backupDir, fresh),
    () => files.restoreArtifact(backupDir),
    () => files.discardArtifact({ name: 'node', url: '', checksum: '', member: null }),
  ];
  await fc.assert(
    fc.asyncProperty(fc.nat(4), fc.array(fc.nat(3), { maxLength: 4 }), async (stopAfter, repeated) => {
      const changes = [
        async () => void (await acquire()),
        async () => files.installArtifact(await acquire(), backupDir),
        () => files.writeConfig(config, Buffer.from('peers = 100\n')),
        () => files.writeConfig(fresh, Buffer.from('new\n')),
      ];
      for (const change of changes.slice(0, stopAfter)) await change();
      for (const index of [...repeated, 0, 1, 2, 3]) await undo[index]?.();
      expect(await snapshot()).toEqual(before);
    }),
    { numRuns: 25 },
  );
});
