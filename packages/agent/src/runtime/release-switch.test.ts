import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumOf, FileHashes } from '../host/file-hash.ts';
import { FileAdapter } from './file-adapter.ts';
import type { WantedArtifact } from './runtime-adapter.ts';
import { testArtifact } from './test-artifacts.ts';

class BinaryOnly extends FileAdapter {}

const signal = AbortSignal.timeout(60_000);
let folder: string;
let backupDir: string;
let server: ArtifactServer;
let old: Buffer;
let fresh: Buffer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-release-'));
  server = await ArtifactServer.listen();
  backupDir = join(folder, 'data', '.upgrade-backup', 'attempt-1');
  old = await testArtifact('runs');
  fresh = Buffer.concat([old, Buffer.from('new')]);
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const at = (path: string) => join(folder, 'opt', path);
const linkText = (text: string) => text.replace('{opt}', join(folder, 'opt'));

/** Makes the links (`path -> text`) and the file with the old binary. */
async function layOut(binary: string, links: Readonly<Record<string, string>>): Promise<void> {
  await put(binary, old);
  for (const [path, text] of Object.entries(links)) {
    await mkdir(join(at(path), '..'), { recursive: true });
    await symlink(linkText(text), at(path));
  }
}

async function put(path: string, content: Buffer | string): Promise<void> {
  await mkdir(join(at(path), '..'), { recursive: true });
  await writeFile(at(path), content, { mode: 0o755 });
}

function adapterAt(installPath: string, releasesDir: string | null = null): BinaryOnly {
  return new BinaryOnly({
    installPath: at(installPath),
    releasesDir: releasesDir === null ? null : at(releasesDir),
    configRoots: [],
    allowHttpHosts: ['127.0.0.1'],
    hashes: new FileHashes(),
  });
}

function wanted(name = 'v2', anyWithContent = false, content = fresh): WantedArtifact {
  const release = { name, anyWithContent };
  return { name: 'node', url: server.publish('new', content), checksum: checksumOf(content), member: null, release };
}

const acquire = (files: BinaryOnly, artifact: WantedArtifact) =>
  files.acquireArtifact(artifact, { signal, backupDirs: [], onProgress: () => undefined });

async function upgrade(files: BinaryOnly, artifact = wanted()): Promise<void> {
  await files.backupState(backupDir, [], signal);
  const handle = (await files.findAcquiredArtifact(artifact)) ?? (await acquire(files, artifact));
  await files.verifyArtifact(handle, signal);
  await files.installArtifact(handle, backupDir);
}

async function undo(files: BinaryOnly, artifact = wanted()): Promise<void> {
  await files.restoreArtifact(backupDir);
  await files.discardArtifact(artifact);
}

/** Every folder, file and link: kind, owner, mode, time, content or text. */
async function snapshot(): Promise<string[]> {
  const found: string[] = [];
  for (const path of (await readdir(join(folder, 'opt'), { recursive: true })).sort()) {
    const { mode, uid, gid, mtimeMs } = await lstat(at(path));
    const kind = mode & 0o170000;
    const content =
      kind === 0o120000 ? await readlink(at(path)) : kind === 0o100000 ? checksumOf(await readFile(at(path))) : '';
    const time = kind === 0o040000 ? '' : Math.floor(mtimeMs); // a folder's changes with every name in it
    found.push(`${path} ${mode.toString(8)} ${uid}:${gid} ${time} ${content}`);
  }
  return found;
}

const STYLES = [
  {
    style: 'releases beside each other behind a relative link',
    binary: 'app/releases/v1/bin/node',
    links: { 'app/current': 'releases/v1' },
    install: 'app/current/bin/node',
    releasesDir: null,
    link: 'app/current',
    text: 'releases/v2',
    lands: 'app/releases/v2/bin/node',
  },
  {
    style: 'Cosmovisor: an absolute `current`, at first to `genesis`, later to a folder of `upgrades`',
    binary: 'cosmovisor/genesis/bin/node',
    links: { 'cosmovisor/current': '{opt}/cosmovisor/genesis', 'cosmovisor/upgrades/v1': '{opt}/nowhere' },
    install: 'cosmovisor/current/bin/node',
    releasesDir: 'cosmovisor/upgrades',
    link: 'cosmovisor/current',
    text: '{opt}/cosmovisor/upgrades/v2',
    lands: 'cosmovisor/upgrades/v2/bin/node',
  },
  {
    style: 'a link to the binary, the version in its name',
    binary: 'bin/node-v1',
    links: { 'bin/node': 'node-v1' },
    install: 'bin/node',
    releasesDir: null,
    link: 'bin/node',
    text: 'node-v2',
    lands: 'bin/node-v2',
  },
  {
    style: 'a link to the binary in a folder of its version',
    binary: 'node/v1/node',
    links: { 'bin/node': '../node/v1/node' },
    install: 'bin/node',
    releasesDir: 'node',
    link: 'bin/node',
    text: '../node/v2/node',
    lands: 'node/v2/node',
  },
  {
    style: 'a link to a link: the last one is replaced',
    binary: 'app/releases/v1/node',
    links: { 'app/current': 'releases/v1', 'bin/node': '../app/current/node' },
    install: 'bin/node',
    releasesDir: null,
    link: 'app/current',
    text: 'releases/v2',
    lands: 'app/releases/v2/node',
  },
] as const;

describe.each(STYLES)('$style', ({ binary, links, install, releasesDir, link, text, lands }) => {
  beforeEach(() => layOut(binary, links));

  it('points the link to the new place and leaves the old binary where it is (A8, field-case 50)', async () => {
    const files = adapterAt(install, releasesDir);
    await upgrade(files);
    expect(await readlink(at(link))).toBe(linkText(text));
    expect((await readFile(at(lands))).equals(fresh)).toBe(true);
    expect((await readFile(at(install))).equals(fresh)).toBe(true);
    expect((await readFile(at(binary))).equals(old)).toBe(true);
    expect(await files.isArtifactInstalled(checksumOf(fresh))).toBe(true);
  });

  it('has the exact link back after the undo, and nothing of ours is left (field-case 11)', async () => {
    const before = await snapshot();
    await upgrade(adapterAt(install, releasesDir));
    await undo(adapterAt(install, releasesDir));
    await undo(adapterAt(install, releasesDir));
    expect(await snapshot()).toEqual(before);
  });

  it('goes on after a crash between the new file and the link, and back too', async () => {
    const before = await snapshot();
    await upgrade(adapterAt(install, releasesDir));
    await rm(at(link));
    await symlink(linkText(links[link as keyof typeof links]), at(link)); // as if the last rename had not happened
    const files = adapterAt(install, releasesDir);
    const handle = await files.findAcquiredArtifact(wanted());
    expect(handle?.location).toBe(at(lands));
    if (handle !== null) await files.installArtifact(handle, backupDir);
    expect(await files.isArtifactInstalled(checksumOf(fresh))).toBe(true);
    await undo(files);
    expect(await snapshot()).toEqual(before);
  });
});

it('goes back to the place that holds the earlier version, whatever its name, by the link alone', async () => {
  await layOut('app/releases/genesis/node', { 'app/current': 'releases/genesis' });
  const files = adapterAt('app/current/node');
  await upgrade(files);
  backupDir = join(folder, 'data', '.upgrade-backup', 'attempt-2');
  await upgrade(files, wanted('v1', true, old));
  expect(await readlink(at('app/current'))).toBe('releases/genesis');
  expect((await readdir(at('app/releases'))).sort()).toEqual(['genesis', 'v2']);
});

it('takes a release that was prepared, with what lies beside the binary, and an undo leaves it there', async () => {
  await layOut('app/releases/v1/node', { 'app/current': 'releases/v1' });
  await put('app/releases/v1/lib.so', 'one');
  await put('app/releases/v2/lib.so', 'two');
  await put('app/releases/v2/node', fresh);
  const before = await snapshot();
  await upgrade(adapterAt('app/current/node'));
  expect(await readlink(at('app/current'))).toBe('releases/v2');
  expect(server.requests.length).toBe(0);
  await undo(adapterAt('app/current/node'));
  expect(await snapshot()).toEqual(before);
});

describe('is refused before anything is touched:', () => {
  beforeEach(() => layOut('app/releases/v1/node', { 'app/current': 'releases/v1' }));

  const refusal = async (files: BinaryOnly, artifact = wanted()) => {
    const before = await snapshot();
    const failure = await upgrade(files, artifact).then(
      () => null,
      (error: unknown) => error,
    );
    await files.discardArtifact(artifact).catch(() => undefined);
    expect(await snapshot()).toEqual(before);
    return failure;
  };

  it('an install path without a link', async () => {
    await put('bin/node', old);
    const files = new BinaryOnly({
      installPath: '/usr/bin/env',
      configRoots: [],
      allowHttpHosts: ['127.0.0.1'],
      hashes: new FileHashes(),
    });
    await expect(acquire(files, wanted())).rejects.toMatchObject({ code: 'no_link' });
  });

  it('a release that the link leads to already', async () => {
    const failure = await refusal(adapterAt('app/current/node'), wanted('v1'));
    expect(failure).toMatchObject({ code: 'release_in_use' });
  });

  it('a place that holds another binary', async () => {
    await put('app/releases/v2/node', 'other');
    expect(await refusal(adapterAt('app/current/node'))).toMatchObject({ code: 'release_exists' });
  });

  it('a release folder that holds more than the binary: a system folder behind a link above all', async () => {
    await put('app/releases/v1/lib/wasm.so', 'lib');
    expect(await refusal(adapterAt('app/current/node'))).toMatchObject({
      code: 'release_has_more',
      message: expect.stringContaining('lib/wasm.so'),
    });
  });

  it('a releases_dir that is not there', async () => {
    expect(await refusal(adapterAt('app/current/node', 'nowhere'))).toMatchObject({ code: 'no_releases_dir' });
  });
});

it('keeps what somebody put into the new folder meanwhile', async () => {
  await layOut('app/releases/v1/node', { 'app/current': 'releases/v1' });
  await upgrade(adapterAt('app/current/node'));
  await put('app/releases/v2/notes.txt', 'mine');
  await undo(adapterAt('app/current/node'));
  expect(await readlink(at('app/current'))).toBe('releases/v1');
  expect(await readdir(at('app/releases/v2'))).toEqual(['notes.txt']);
});
