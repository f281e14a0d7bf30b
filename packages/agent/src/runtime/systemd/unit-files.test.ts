import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unitFilesNow } from './unit-files.ts';

let folder: string;
const at = (...names: string[]) => join(folder, ...names);
const now = () => unitFilesNow([folder, at('no-such-folder')]);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'units-'));
  mkdirSync(at('app.service.d'));
  writeFileSync(at('app.service'), 'old');
  writeFileSync(at('app.service.d', 'limits.conf'), 'old');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('is the same while nothing changes', () => {
  expect(now()).toBe(now());
});

it.each([
  ['a drop-in is written', () => writeFileSync(at('app.service.d', 'limits.conf'), 'new')],
  ['a drop-in is added', () => writeFileSync(at('app.service.d', 'more.conf'), '')],
  ['a drop-in is removed', () => rmSync(at('app.service.d', 'limits.conf'))],
  ['another unit is added', () => writeFileSync(at('other.service'), '')],
])('changes when %s', (_, change) => {
  const before = now();
  change();
  expect(now()).not.toBe(before);
});

it('changes when an older file is put back with its old time, which systemd itself does not notice', () => {
  const before = now();
  writeFileSync(at('temp'), 'older');
  utimesSync(at('temp'), 1, 1);
  renameSync(at('temp'), at('app.service'));
  expect(now()).not.toBe(before);
});
