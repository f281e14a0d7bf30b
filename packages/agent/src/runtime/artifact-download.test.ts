import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactServer, type Behaviour, tooManyRequests } from '@hoodcloud/testkit/artifact-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumOf } from '../host/file-hash.ts';
import { HostError } from '../host/host-error.ts';
import { type Download, downloadArtifact } from './artifact-download.ts';

const CONTENT = randomBytes(300_000);
let folder: string;
let target: string;
let server: ArtifactServer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-download-'));
  target = join(folder, '.download-node');
  server = await ArtifactServer.listen();
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function download(url: string, changes: Partial<Download> = {}): Promise<void> {
  return downloadArtifact({
    url,
    checksum: checksumOf(CONTENT),
    target,
    attributes: { mode: 0o755, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    allowHttpHosts: ['127.0.0.1'],
    signal: AbortSignal.timeout(20_000),
    onProgress: () => undefined,
    requireSpace: async () => undefined,
    backoff: { firstMs: 1, capMs: 5, fruitlessTries: 3 },
    ...changes,
  });
}
const publish = (...behaviours: Behaviour[]) => server.publish('node', CONTENT, ...behaviours);
const ranges = () => server.requestsFor('node').map(({ range }) => range);

it('brings the file with its mode under its final name, and nothing else', async () => {
  const progress: number[] = [];
  await download(publish(), { onProgress: ({ receivedBytes }) => progress.push(receivedBytes) });
  expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
  expect((await stat(target)).mode & 0o777).toBe(0o755);
  expect(await readdir(folder)).toEqual(['.download-node']);
  expect(progress.at(-1)).toBe(CONTENT.length);
});

describe('an interrupted transfer', () => {
  it('goes on where it stopped when the server proves that it can', async () => {
    await download(publish({ kind: 'cut_short', afterBytes: 100_000 }, { kind: 'serve', ranges: true }));
    expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
    expect(ranges()).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
  });

  it('begins anew when the server sends the whole file instead of the rest (field-case 27)', async () => {
    await download(publish({ kind: 'cut_short', afterBytes: 100_000 }, { kind: 'serve' }));
    expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
    expect(ranges()).toEqual([undefined, expect.stringMatching(/^bytes=/)]); // and takes that for the file at once
  });

  it.each([
    ['a strong mark', '"v2"', '"v2"'],
    ['a weak mark, which proves nothing', 'W/"v2"', undefined],
  ])('asks by %s of the file for the rest of the same one', async (_, etag, ifRange) => {
    await download(publish({ kind: 'cut_short', afterBytes: 100_000, etag }, { kind: 'serve', ranges: true }));
    expect(server.requestsFor('node').map((request) => request.ifRange)).toEqual([undefined, ifRange]);
  });

  it('begins anew when the rest is of another file by its mark', async () => {
    const first = { kind: 'cut_short', afterBytes: 100_000, etag: '"v2"' } as const;
    await download(publish(first, { kind: 'wrong_part', etag: '"v3"' }, { kind: 'serve', ranges: true }));
    expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
    expect(ranges()).toEqual([undefined, expect.stringMatching(/^bytes=/), undefined]);
  });

  it('begins anew when the file has become shorter than what is here', async () => {
    const gone = { kind: 'status', status: 416 } as const;
    await download(publish({ kind: 'cut_short', afterBytes: 100_000 }, gone, { kind: 'serve', ranges: true }));
    expect(ranges()).toEqual([undefined, expect.stringMatching(/^bytes=/), undefined]);
    expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
  });

  it('is fetched whole once more when its parts make something else of the right size (field-cases 28, 29)', async () => {
    const parts = [{ kind: 'cut_short', afterBytes: 100_000 }, { kind: 'wrong_part' }] as const;
    await download(publish(...parts, { kind: 'serve', ranges: true }));
    expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
    expect(ranges()).toEqual([undefined, expect.stringMatching(/^bytes=/), undefined]);
    const still = download(publish(...parts, { kind: 'wrong_bytes' }), { target: join(folder, 'other') });
    await expect(still).rejects.toMatchObject({ code: 'checksum_mismatch' });
    expect(await readdir(folder)).toEqual(['.download-node']);
  });

  it('is given up after some tries that bring nothing', async () => {
    const url = publish({ kind: 'cut_short', afterBytes: 0 });
    await expect(download(url)).rejects.toMatchObject({
      code: 'download_failed',
      message: expect.stringContaining('3 tries'),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('ends with its budget, and says what the trouble was', async () => {
    const url = publish({ kind: 'stall', afterBytes: 1000 });
    await expect(download(url, { signal: AbortSignal.timeout(200) })).rejects.toMatchObject({
      code: 'download_failed',
    });
    expect(await readdir(folder)).toEqual([]);
  });
});

it.each([500, 503, 408])('tries again after %d', async (status) => {
  await download(publish({ kind: 'status', status }, { kind: 'serve' }));
  expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
});

it('waits as long as a server asks for (field-case 36)', async () => {
  await download(publish(tooManyRequests(1), { kind: 'serve' }));
  const [first, second] = server.requestsFor('node');
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(990);
});

describe('fails at once and leaves nothing that could be taken for complete:', () => {
  it.each([401, 403, 404, 410])('the answer %d', async (status) => {
    await expect(download(publish({ kind: 'status', status }))).rejects.toMatchObject({
      code: 'download_refused',
      message: expect.stringContaining(String(status)),
    });
    expect(server.requestsFor('node')).toHaveLength(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('other bytes than the checksum says', async () => {
    await expect(download(publish({ kind: 'wrong_bytes' }))).rejects.toMatchObject({ code: 'checksum_mismatch' });
    expect(server.requestsFor('node')).toHaveLength(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('a redirect loop', async () => {
    await expect(download(publish({ kind: 'redirect_loop' }))).rejects.toMatchObject({ code: 'download_refused' });
    expect(server.requestsFor('node')).toHaveLength(6);
  });

  it('plain http from a host that the configuration does not name', async () => {
    const failed = download(publish(), { allowHttpHosts: [] });
    await expect(failed).rejects.toMatchObject({
      code: 'download_refused',
      message: expect.stringContaining('allow_http_hosts'),
    });
    expect(server.requests).toHaveLength(0);
  });

  it('a redirect to another scheme (field-case 34)', async () => {
    const url = publish({ kind: 'redirect', to: 'ftp://127.0.0.1/node' });
    await expect(download(url)).rejects.toMatchObject({ code: 'download_refused' });
  });

  it('too little space, before the first byte is written (A10)', async () => {
    const asked: number[] = [];
    const requireSpace = async (bytes: number) => {
      asked.push(bytes);
      throw new HostError('disk_full', 'no space');
    };
    await expect(download(publish(), { requireSpace })).rejects.toMatchObject({ code: 'disk_full' });
    expect(asked).toEqual([CONTENT.length]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('a folder that is not there', async () => {
    await expect(download(publish(), { target: join(folder, 'no', 'node') })).rejects.toThrow();
  });
});

it('asks the disk while a body of unknown length comes (field-case 38)', async () => {
  const asked: number[] = [];
  await download(publish({ kind: 'chunked' }), { requireSpace: async (bytes) => void asked.push(bytes) });
  expect(asked).toEqual([16 * 1024 * 1024]);
  const requireSpace = () => Promise.reject(new HostError('disk_full', 'no space'));
  const full = download(publish({ kind: 'chunked' }), { requireSpace, target: join(folder, 'other') });
  await expect(full).rejects.toMatchObject({ code: 'disk_full' });
  expect(await readdir(folder)).toEqual(['.download-node']);
});

it('makes few tries in the end, however fast each one fails (field-case 22)', async () => {
  const waits: number[] = [];
  let last = 0;
  const backoff = { firstMs: 40, capMs: 80, fruitlessTries: 5 };
  await expect(download(publish({ kind: 'status', status: 503 }), { backoff })).rejects.toMatchObject({
    code: 'download_failed',
  });
  for (const { atMs } of server.requestsFor('node')) {
    if (last > 0) waits.push(atMs - last);
    last = atMs;
  }
  expect(waits).toHaveLength(4);
  for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(Math.min(40, 20 * 2 ** index) - 2);
});

it('follows redirects to the file (field-case 34)', async () => {
  const url = publish();
  await download(server.publish('latest', '', { kind: 'redirect', to: url }));
  expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
});

it('replaces what an earlier try had left half done (field-case 21)', async () => {
  await expect(download(publish({ kind: 'cut_short', afterBytes: 10 }))).rejects.toThrow();
  await download(publish());
  expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
});
