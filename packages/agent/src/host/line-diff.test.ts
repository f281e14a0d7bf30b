import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { diffLines } from './line-diff.ts';

const OLD = 'a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\nh = 8\ni = 9\nj = 10\n';

it('shows what was changed, added and taken away, with three lines around it', () => {
  const now = OLD.replace('b = 2', 'b = 20\nb2 = 21').replace('i = 9\n', '');
  expect(diffLines(OLD, now)).toEqual({
    places: '2-3, after 9 (1 gone)',
    unified: [
      '@@ -1,10 +1,10 @@',
      ...[' a = 1', '-b = 2', '+b = 20', '+b2 = 21', ' c = 3', ' d = 4', ' e = 5', ' f = 6', ' g = 7', ' h = 8'],
      ...['-i = 9', ' j = 10'],
    ],
  });
});

it('keeps changes that are far from each other in hunks of their own', () => {
  const many = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
  const now = many.replace('line 2\n', 'LINE 2\n').replace('line 30\n', 'LINE 30\n');
  const { places, unified } = diffLines(many, now);
  expect(places).toBe('3, 31');
  expect(unified.filter((line) => line.startsWith('@@'))).toEqual(['@@ -1,6 +1,6 @@', '@@ -28,7 +28,7 @@']);
});

it('shows nothing for equal texts, and texts that have nothing in common as one block', () => {
  expect(diffLines(OLD, OLD)).toEqual({ places: '', unified: [] });
  const other = `${Array.from({ length: 3000 }, (_, index) => `x${index}`).join('\n')}\n`;
  const long = `${Array.from({ length: 3000 }, (_, index) => `y${index}`).join('\n')}\n`;
  expect(diffLines(long, other).places).toBe('1-3000');
});

it('makes a diff by which git turns any text into any other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-diff-'));
  const lines = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    .map((all) => all.map((l) => `${l}\n`).join(''));
  try {
    fc.assert(
      fc.property(lines, lines, (old, now) => {
        fc.pre(old !== now && old !== '' && now !== '');
        writeFileSync(join(folder, 'f'), old);
        const patch = ['--- a/f', '+++ b/f', ...diffLines(old, now).unified, ''].join('\n');
        execFileSync('git', ['apply', '-'], {
          cwd: folder,
          input: patch,
          stdio: 'pipe',
        });
        expect(readFileSync(join(folder, 'f'), 'utf8')).toBe(now);
      }),
      { numRuns: 30 },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
