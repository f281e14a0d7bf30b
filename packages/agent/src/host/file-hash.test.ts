import { mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checksumOf, FileHashes, hashFile, hashFileIfThere } from './file-hash.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-hash-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('is the SHA-256 of the content', async () => {
  await writeFile(join(folder, 'a'), 'abc');
  expect(await hashFile(join(folder, 'a'))).toBe(checksumOf('abc'));
  expect(checksumOf('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(await hashFileIfThere(join(folder, 'b'))).toBeNull();
});

it('knows a file again after a rename, so that nothing is hashed while the node is down (A4)', async () => {
  const hashes = new FileHashes();
  await writeFile(join(folder, 'a'), 'abc');
  await hashes.learn(join(folder, 'a'), 'sha256:told');
  await rename(join(folder, 'a'), join(folder, 'b'));
  expect(await hashes.of(join(folder, 'b'))).toBe('sha256:told');
});

it('hashes a file again that was changed or replaced', async () => {
  const hashes = new FileHashes();
  await writeFile(join(folder, 'a'), 'abc');
  await hashes.of(join(folder, 'a'));
  await writeFile(join(folder, 'a'), 'abcd');
  expect(await hashes.of(join(folder, 'a'))).toBe(checksumOf('abcd'));
  await writeFile(join(folder, 'a'), 'abce');
  await utimes(join(folder, 'a'), 1, 1);
  expect(await hashes.of(join(folder, 'a'))).toBe(checksumOf('abce'));
});
