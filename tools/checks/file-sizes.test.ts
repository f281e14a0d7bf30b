import { expect, it } from 'vitest';
import { judgeSizes, readReasons } from './file-sizes.mjs';

const LIST = '| file | why it is one file |\n|---|---|\n| `src/long.ts` | one table |\n| `src/empty-reason.ts` |  |\n';

it('asks for a reason for each long file, and only then', () => {
  const long = [
    { file: 'src/long.ts', count: 301 },
    { file: 'src/empty-reason.ts', count: 400 },
  ];
  expect(judgeSizes(long, readReasons(LIST))).toEqual([
    'src/empty-reason.ts has 400 lines: split it, or give its reason in docs/file-sizes.md.',
  ]);
});

it('asks to remove a reason that nobody needs any more', () => {
  expect(judgeSizes([], readReasons(LIST))).toEqual([expect.stringContaining('src/long.ts, which isn')]);
});
