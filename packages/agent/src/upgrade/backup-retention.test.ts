import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listBackups, pruneBackups } from './backup-retention.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hoodcloud-backups-'));
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    await mkdir(join(root, name));
    await utimes(join(root, name), 1000 + index, 1000 + index);
  }
});
afterEach(() => rm(root, { recursive: true, force: true }));

it('lists the newest first', async () => {
  expect((await listBackups(root)).map((path) => path.slice(-1))).toEqual(['e', 'd', 'c', 'b', 'a']);
  expect(await listBackups(join(root, 'no'))).toEqual([]);
});

it('keeps the last three (A13)', async () => {
  await pruneBackups(root, new Set());
  expect((await readdir(root)).sort()).toEqual(['c', 'd', 'e']);
});

it('never removes one that is still needed', async () => {
  await pruneBackups(root, new Set([join(root, 'a')]));
  expect((await readdir(root)).sort()).toEqual(['a', 'c', 'd', 'e']);
});
