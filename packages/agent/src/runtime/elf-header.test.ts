import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { requireExecutable } from './elf-header.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-elf-'));
  path = join(folder, 'node');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const make = (content: Buffer | string, mode = 0o755) => writeFile(path, content, { mode });

it('takes an executable of this machine', async () => {
  await copyFile('/bin/sh', path);
  await requireExecutable(path);
});

it('refuses one that was built for another processor', async () => {
  await copyFile('/bin/sh', path);
  await expect(requireExecutable(path, process.arch === 'arm64' ? 'x64' : 'arm64')).rejects.toMatchObject({
    code: 'wrong_platform',
  });
});

it.each([
  ['macOS', Buffer.from('cffaedfe0000', 'hex')],
  ['Windows', Buffer.from('MZ\x90')],
])('refuses one that was built for %s', async (system, content) => {
  await make(content);
  const refusal = { code: 'wrong_platform', message: expect.stringContaining(system) };
  await expect(requireExecutable(path)).rejects.toMatchObject(refusal);
});

it.each([
  ['a web page', '<!doctype html>'],
  ['an empty file', ''],
  ['a script', '#!/bin/sh\nexit 0\n'],
])('refuses %s', async (_, content) => {
  await make(content);
  await expect(requireExecutable(path)).rejects.toMatchObject({ code: 'not_executable' });
});

it('refuses one whose loader this host does not have', async () => {
  const shell = await readFile('/bin/sh');
  const loader = shell.indexOf('/lib64/ld-linux');
  if (loader < 0) return; // another processor's loader has another name
  shell.write('/lib64/ld-mussx', loader);
  await make(shell);
  await expect(requireExecutable(path)).rejects.toMatchObject({
    code: 'not_executable',
    message: expect.stringContaining('/lib64/ld-mussx'),
  });
});

it('refuses one without an x bit', async () => {
  await copyFile('/bin/sh', path);
  await chmod(path, 0o644);
  await expect(requireExecutable(path)).rejects.toMatchObject({ code: 'not_executable' });
});
