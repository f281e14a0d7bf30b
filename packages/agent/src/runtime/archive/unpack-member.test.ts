import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumOf } from '../../host/file-hash.ts';
import { HostError } from '../../host/host-error.ts';
import { type Unpacking, unpackMember } from './unpack-member.ts';

const BINARY = randomBytes(300_000);
const OTHER = randomBytes(5_000);
const URL = 'https://releases.test/node';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-unpack-'));
  await mkdir(join(folder, 'in', 'bin'), { recursive: true });
  await mkdir(join(folder, 'out'));
  await writeFile(join(folder, 'in', 'bin', 'node'), BINARY, { mode: 0o600 });
  await writeFile(join(folder, 'in', 'README.md'), OTHER);
});
afterEach(() => rm(folder, { recursive: true }));

const archive = () => join(folder, 'archive');
const target = () => join(folder, 'out', 'node');
const OUT = () => readdir(join(folder, 'out'));

/** Packs the folder `in` by a program of the system. */
function pack(program: string, ...args: string[]): void {
  execFileSync(program, args, { cwd: join(folder, 'in') });
}

function unpack(member: string, changes: Partial<Unpacking> = {}): Promise<string> {
  const attributes = { mode: 0o751, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return unpackMember({
    archive: archive(),
    url: URL,
    member,
    target: target(),
    attributes,
    signal: new AbortController().signal,
    requireSpace: async () => undefined,
    ...changes,
  });
}

/** A tar of entries that no `tar` program would make. */
function tarGz(...entries: { path: string; type?: string; linkpath?: string; content?: Buffer; size?: number }[]) {
  const blocks = entries.flatMap(({ path, type = 'File', linkpath = '', content = Buffer.alloc(0), size }) => {
    const header = new Header({ path, mode: 0o755, size: size ?? content.length, linkpath, mtime: new Date(0) });
    header.type = type as never;
    header.encode();
    return [header.block ?? Buffer.alloc(0), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

describe.each([
  ['.tar.gz', () => pack('tar', '-czf', archive(), 'bin', 'README.md')],
  ['.tar.gz of a whole folder', () => pack('tar', '-czf', archive(), '.')],
  ['.tar.xz', () => pack('sh', '-c', `tar -c bin README.md | xz -0 > ${archive()}`)],
  [
    '.tar.xz of many blocks',
    () => pack('sh', '-c', `tar -c bin README.md | xz -0 -T2 --block-size=64KiB > ${archive()}`),
  ],
  ['.zip', () => pack('zip', '-qr', archive(), 'bin', 'README.md') ?? pack('mv', `${archive()}.zip`, archive())],
])('a %s', (_, packIt) => {
  beforeEach(packIt);

  it('gives its member, with the checksum of the member and the owner and mode of ours (A6, A11, field-case 31)', async () => {
    const asked: number[] = [];
    const checksum = await unpack('bin/node', { requireSpace: async (bytes) => void asked.push(bytes) });
    expect(checksum).toBe(checksumOf(BINARY));
    expect(checksumOf(await readFile(target()))).toBe(checksum);
    expect((await stat(target())).mode & 0o7777).toBe(0o751);
    expect(await OUT()).toEqual(['node']);
    expect(asked).toEqual([BINARY.length]);
  });

  it('says what it holds when it lacks the member, and leaves nothing', async () => {
    const refusal = { code: 'member_missing', message: expect.stringContaining('bin/node') };
    await expect(unpack('node')).rejects.toMatchObject(refusal);
    expect(await OUT()).toEqual([]);
  });

  it('leaves nothing when its end is missing', async () => {
    const whole = await readFile(archive());
    await writeFile(archive(), whole.subarray(0, whole.length - 2000));
    await expect(unpack('bin/node')).rejects.toMatchObject({ code: 'archive_refused' });
    expect(await OUT()).toEqual([]);
  });

  it('leaves nothing when there is no room for the member (field-case 38)', async () => {
    const full = new HostError('disk_full', 'no room');
    await expect(unpack('bin/node', { requireSpace: () => Promise.reject(full) })).rejects.toBe(full);
    expect(await OUT()).toEqual([]);
  });

  it('leaves nothing when the budget ends', async () => {
    const controller = new AbortController();
    const requireSpace = async () => controller.abort();
    await expect(unpack('bin/node', { signal: controller.signal, requireSpace })).rejects.toThrow(/abort/i);
    expect(await OUT()).toEqual([]);
  });
});

const file = { path: 'bin/node', content: BINARY.subarray(0, 2000) };
it.each([
  [
    'a path that leads up',
    tarGz(file, { path: '../../etc/cron.d/x', content: OTHER }),
    /"\.\.\/\.\.\/etc\/cron\.d\/x" leads out/,
  ],
  ['an absolute path', tarGz({ path: '/etc/passwd', content: OTHER }, file), /"\/etc\/passwd" leads out/],
  [
    'a link as the member',
    tarGz({ path: 'bin/node', type: 'SymbolicLink', linkpath: '/bin/sh' }),
    /SymbolicLink to "\/bin\/sh"/,
  ],
  ['a hard link as the member', tarGz({ path: 'bin/node', type: 'Link', linkpath: 'x' }), /no file but a Link/],
  ['a device as the member', tarGz({ path: 'bin/node', type: 'CharacterDevice' }), /no file but a CharacterDevice/],
  ['a pipe as the member', tarGz({ path: 'bin/node', type: 'FIFO' }), /no file but a FIFO/],
  ['a folder as the member', tarGz({ path: 'bin/node', type: 'Directory' }), /no file but a Directory/],
  ['the member twice', tarGz(file, { ...file, content: OTHER }), /holds "bin\/node" twice/],
  ['a member larger than any binary', tarGz({ ...file, size: 9 * 1024 ** 3 }), /would have 9663676416 bytes/],
])('refuses %s and leaves nothing', async (_, content, message) => {
  await writeFile(archive(), content);
  await expect(unpack('bin/node')).rejects.toMatchObject({
    code: 'archive_refused',
    message: expect.stringMatching(message),
  });
  expect(await OUT()).toEqual([]);
});

it('refuses an archive that grows without measure before its member comes', async () => {
  const zeros = Buffer.alloc(80 * 1024 * 1024);
  await writeFile(archive(), tarGz({ path: 'zeros', content: zeros }, file));
  await expect(unpack('bin/node')).rejects.toThrow(/grows to more than/);
  expect(await OUT()).toEqual([]);
});

/** A zip with one entry whose header says what we like. */
function zipOf(
  name: string,
  entry: { declared?: number; attributes?: number; flags?: number; method?: number },
): Buffer {
  const packed = deflateRawSync(OTHER);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(entry.flags ?? 0, 2);
  common.writeUInt16LE(entry.method ?? 8, 4);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(entry.declared ?? OTHER.length, 18);
  common.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), packed]);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(entry.attributes ?? 0, 6);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, rest, Buffer.from(name)]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}

it.each([
  ['a path that leads up', zipOf('../node', {}), /"\.\.\/node" leads out/],
  ['an absolute path', zipOf('/node', {}), /"\/node" leads out/],
  ['a link as the member', zipOf('node', { attributes: (0o120777 << 16) >>> 0 }), /a link or a device/],
  ['an encrypted member', zipOf('node', { flags: 1 }), /is encrypted/],
  ['a compression that few can read', zipOf('node', { method: 14 }), /by method 14/],
  ['a member longer than it says', zipOf('node', { declared: 100 }), /can't be read|longer than/],
])('refuses %s in a zip and leaves nothing', async (_, content, message) => {
  await writeFile(archive(), content);
  await expect(unpack('node')).rejects.toMatchObject({
    code: 'archive_refused',
    message: expect.stringMatching(message),
  });
  expect(await OUT()).toEqual([]);
});

it('takes a zip as made above when nothing is wrong with it', async () => {
  await writeFile(archive(), zipOf('node', { attributes: (0o100755 << 16) >>> 0 }));
  expect(await unpack('node')).toBe(checksumOf(OTHER));
});

it('refuses what is no archive at all', async () => {
  await writeFile(archive(), '<html>not found</html>');
  await expect(unpack('node')).rejects.toMatchObject({ code: 'archive_unsupported' });
  expect(await OUT()).toEqual([]);
});

it('says how to pack what it can not read', async () => {
  pack('sh', '-c', `tar -c bin | xz -0 --check=sha256 > ${archive()}`);
  await expect(unpack('bin/node')).rejects.toThrow(/--check=crc64/);
});

it('follows no link that lies where it writes', async () => {
  pack('tar', '-czf', archive(), 'bin');
  await writeFile(join(folder, 'victim'), 'untouched');
  await symlink(join(folder, 'victim'), `${target()}.part`);
  await unpack('bin/node');
  expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('untouched');
});
