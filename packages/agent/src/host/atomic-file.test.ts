import { chmod, chown, lstat, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { attributesOf, removeDurably, replaceFile, tempBeside } from './atomic-file.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-atomic-'));
  path = join(folder, 'config.toml');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

/** Observes every fsync of this process: what the file held under its name when it was called. */
async function observeSyncs(): Promise<{ what: 'file' | 'folder'; content: string | null }[]> {
  const seen: { what: 'file' | 'folder'; content: string | null }[] = [];
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const real = prototype.sync;
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: typeof handle) {
    const what = (await this.stat()).isDirectory() ? 'folder' : 'file';
    seen.push({ what, content: await readFile(path, 'utf8').catch(() => null) });
    return real.call(this);
  });
  return seen;
}

it('is on the disk before it gets its name, and the name is on the disk when it resolves (A8, field-case 15)', async () => {
  await writeFile(path, 'old');
  const syncs = await observeSyncs();
  await replaceFile(path, 'new');
  expect(syncs).toEqual([
    { what: 'file', content: 'old' },
    { what: 'folder', content: 'new' },
  ]);
});

it('makes a removal survive a power cut', async () => {
  await writeFile(path, 'old');
  const syncs = await observeSyncs();
  await removeDurably(path);
  expect(syncs).toEqual([{ what: 'folder', content: null }]);
});

it('keeps mode and owner of the file it replaces (A8)', async () => {
  await writeFile(path, 'old');
  await chmod(path, 0o640);
  if (process.getuid?.() === 0) await chown(path, 65534, 65533);
  const before = await attributesOf(path);
  await replaceFile(path, 'new');
  expect(await attributesOf(path)).toMatchObject({ mode: 0o640, uid: before?.uid, gid: before?.gid });
  expect(await readFile(path, 'utf8')).toBe('new');
});

it('gives a new file 0644', async () => {
  await replaceFile(path, 'new');
  expect(await attributesOf(path)).toMatchObject({ mode: 0o644 });
});

it('replaces what a link leads to, never the link', async () => {
  const real = join(folder, 'real.toml');
  await writeFile(real, 'old');
  await symlink(real, path);
  await replaceFile(path, 'new');
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect(await readFile(real, 'utf8')).toBe('new');
});

it('never opens the old file for writing: who reads it goes on reading it (field-case 18)', async () => {
  await writeFile(path, 'old');
  const before = (await stat(path)).ino;
  const reader = await open(path, 'r');
  await replaceFile(path, 'new');
  expect(await reader.readFile('utf8')).toBe('old');
  await reader.close();
  expect((await stat(path)).ino).not.toBe(before);
});

it('takes what a crash left of an earlier try, and leaves nothing beside the file (field-case 3)', async () => {
  await writeFile(tempBeside(path), 'half of someth');
  await replaceFile(path, 'new');
  expect(await readdir(folder)).toEqual(['config.toml']);
});

it('leaves nothing beside the file when it fails', async () => {
  await writeFile(path, 'old');
  await expect(replaceFile(path, 'new', { mode: 0o644, uid: -5, gid: 0 })).rejects.toThrow();
  expect(await readdir(folder)).toEqual(['config.toml']);
  expect(await readFile(path, 'utf8')).toBe('old');
});

it('refuses a link that leads nowhere, with a sentence that says so', async () => {
  await symlink(join(folder, 'gone'), path);
  await expect(replaceFile(path, 'new')).rejects.toMatchObject({ code: 'dangling_link' });
});
