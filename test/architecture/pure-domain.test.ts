import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from './read-imports.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Time, chance and the environment are arguments of a rule, never its own doing; workflows replay the same rules. */
const IMPURE =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bprocess\.[a-z]|\bsetTimeout\(|\bsetInterval\(|\bfetch\(|\bperformance\.now\(/;

it('domain has no clock, no chance and no I/O of its own', () => {
  const files = sourceFiles(join(ROOT, 'packages/domain/src')).filter((path) => !path.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(5);
  const impure = files.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        IMPURE.test(line) && !/^\s*(?:\/?\*|\/\/)/.test(line)
          ? [`${relative(ROOT, path)}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(impure).toEqual([]);
});
