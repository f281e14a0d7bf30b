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

  it('begins anew when the server sends the whole file instead of the rest (field case 27)', async () => {
    await download(publish({ kind: 'cut_short', afterBytes: 100_000 }, { kind: 'serve' }));
    expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
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

it('waits as long as a server asks for (field case 36)', async () => {
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

  it('a redirect to another scheme', async () => {
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

it('follows redirects to the file', async () => {
  const url = publish();
  await download(server.publish('latest', '', { kind: 'redirect', to: url }));
  expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
});

it('replaces what an earlier try had left half done', async () => {
  await expect(download(publish({ kind: 'cut_short', afterBytes: 10 }))).rejects.toThrow();
  await download(publish());
  expect(checksumOf(await readFile(target))).toBe(checksumOf(CONTENT));
});
