import { startVitest } from 'vitest/node';

/** The program that `vitestInside` starts in a host. The checkout is read-only there, so nothing is cached in it. */
const [file = ''] = process.argv.slice(2);
const vitest = await startVitest(
  'test',
  [file],
  {
    config: false,
    include: ['**/*.inside.ts'],
    reporters: ['json'],
    watch: false,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
  { cacheDir: '/tmp/vitest-inside' },
);
await vitest?.close();
