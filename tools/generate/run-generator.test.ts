import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { staleFiles } from './run-generator.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hoodcloud-generate-'));
  mkdirSync(join(root, 'out'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(join(root, 'out', name), text);
const read = (name: string) => readFileSync(join(root, 'out', name), 'utf8');

/** A generator whose program is `script`. */
const generator = (script: string) => ({
  name: 'trial',
  command: [process.execPath, '-e', script],
  outputs: ['out'],
  needs: 'out',
});

it('names the files that would change, appear or vanish, and puts everything back', async () => {
  for (const name of ['same', 'changed', 'vanished']) write(name, 'checked in');
  const script = `const fs = require('fs'); fs.writeFileSync('out/changed', 'new'); fs.writeFileSync('out/added', 'new'); fs.rmSync('out/vanished');`;
  expect(await staleFiles(generator(script), root)).toEqual(['out/added', 'out/changed', 'out/vanished']);
  expect(['same', 'changed', 'vanished'].map(read)).toEqual(['checked in', 'checked in', 'checked in']);
  expect(() => read('added')).toThrow();
});

it('finds nothing when the generator writes what is there', async () => {
  write('same', 'checked in');
  expect(await staleFiles(generator(`require('fs').writeFileSync('out/same', 'checked in')`), root)).toEqual([]);
});

it('says what a failing generator said, and puts everything back', async () => {
  write('same', 'checked in');
  const script = `require('fs').writeFileSync('out/same', 'half'); console.error('no database'); process.exit(3);`;
  await expect(staleFiles(generator(script), root)).rejects.toThrow('no database');
  expect(read('same')).toBe('checked in');
});
