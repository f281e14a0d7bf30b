import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backUpFiles } from '../runtime/file-backup.ts';
import { FileHashes } from './file-hash.ts';
import { requireFreeSpace, requireRoom } from './free-space.ts';

const MB = 1024 * 1024;
let folder: string;
const mounted: string[] = [];

/** A small file system of its own. */
async function small(name: string, options: string): Promise<string> {
  const at = join(folder, name);
  await mkdir(at);
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', at]);
  mounted.push(at);
  return at;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-room-'));
});
afterEach(async () => {
  for (const at of mounted.splice(0)) execFileSync('umount', [at]);
  await rm(folder, { recursive: true });
});

const full = (message: RegExp) => ({ code: 'disk_full', message: expect.stringMatching(message) });

describe('the room on a file system (A10, field-case 38)', () => {
  it('is asked in bytes, with a reserve for the node itself', async () => {
    const at = await small('one', 'size=40m');
    await requireFreeSpace(at, 20 * MB);
    await expect(requireFreeSpace(at, 30 * MB)).rejects.toMatchObject(full(/40\.0 MB free, 46\.0 MB are needed/));
  });

  it('is asked in inodes', async () => {
    const at = await small('few', 'size=40m,nr_inodes=8');
    await expect(requireFreeSpace(at, 0, 8)).rejects.toMatchObject(full(/inodes free, 8 are needed/));
  });

  it('is added up for what goes to the same one, and judged apart for others', async () => {
    const one = await small('one', 'size=40m');
    const other = await small('other', 'size=40m');
    const need = (at: string) => ({ folder: join(at, 'not', 'there', 'yet'), bytes: 20 * MB, files: 1 });
    await requireRoom([need(one), need(other)]);
    await expect(requireRoom([need(one), need(one)])).rejects.toMatchObject(full(/56\.0 MB are needed/));
  });
});

it('a backup is not begun when the new version would find no room after it (field-case 38)', async () => {
  const disk = await small('disk', 'size=50m');
  const artifactPath = join(disk, 'node');
  await writeFile(artifactPath, Buffer.alloc(14 * MB));
  const backupDir = join(disk, '.upgrade-backup', 'attempt-1');
  const signal = AbortSignal.timeout(60_000);
  const wanted = { backupDir, artifactPath, configPaths: [], hashes: new FileHashes(), signal };
  await expect(backUpFiles(wanted)).rejects.toMatchObject(full(/36\.0 MB free, 44\.0 MB are needed/));
  expect(await readdir(disk)).toEqual(['node']);
  const elsewhere = await small('elsewhere', 'size=50m');
  await backUpFiles({ ...wanted, backupDir: join(elsewhere, 'attempt-1') });
});
