import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { installedMatchesLock } from './dependencies.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hoodcloud-dependencies-'));
  mkdirSync(join(root, 'node_modules'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const LOCKED = {
  '': {},
  'node_modules/pg': { version: '8.0.0' },
  'node_modules/other-platform': { version: '1.0.0', optional: true },
};

function write(installed: object | undefined): void {
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: LOCKED }));
  if (installed) writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages: installed }));
}

it('is content with what npm finished installing, without the packages of other platforms', () => {
  write({ 'node_modules/pg': { version: '8.0.0' } });
  expect(installedMatchesLock(root)).toBe(true);
});

it.each([
  ['an interrupted install, which leaves no record', undefined],
  ['a package missing', {}],
  ['a package at another version', { 'node_modules/pg': { version: '7.0.0' } }],
])('notices %s', (_, installed) => {
  write(installed);
  expect(installedMatchesLock(root)).toBe(false);
});
