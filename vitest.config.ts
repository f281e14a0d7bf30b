import { defineConfig } from 'vitest/config';

/** One project a tier; which files belong to which tier follows from their names (docs/testing.md). */
const patient = { expect: { poll: { timeout: 20_000 } } }; // vitest's own second is nothing on a busy machine
const slow = { testTimeout: 120_000, hookTimeout: 180_000, ...patient };
const source = ['packages/*/src/**', 'test/**', 'tools/**'];
const postgres = './test/set-up/postgres.ts';
const temporal = './test/set-up/temporal.ts';
const named = (suffix: string) => source.map((glob) => `${glob}/*.${suffix}.ts`);

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          testTimeout: 30_000, // a busy machine is no failing test
          ...patient,
          include: named('test'),
          exclude: ['**/node_modules/**', '**/*.{db,workflow,host,crash,e2e,web}.test.ts'],
        },
      },
      { test: { name: 'db', include: named('db.test'), globalSetup: [postgres], ...slow } },
      {
        test: {
          name: 'workflow',
          include: named('workflow.test'),
          globalSetup: [postgres, temporal],
          fileParallelism: false,
          ...slow,
        },
      },
      {
        test: {
          name: 'host',
          include: named('host.test'),
          globalSetup: [postgres, temporal],
          maxWorkers: 2, // each file has hosts of its own; most of its time it waits for them
          testTimeout: 600_000, // hosts that boot, engines that start: a busy machine takes minutes for what takes seconds
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'crash',
          include: named('crash.test'),
          globalSetup: [postgres],
          fileParallelism: false,
          ...slow,
        },
      },
      {
        test: {
          name: 'e2e',
          include: named('e2e.test'),
          globalSetup: [postgres, temporal],
          fileParallelism: false, // a whole control plane each: two at once need more than two cores
          ...slow,
          testTimeout: 1_800_000, // seven times what the longest takes alone was too little at a load of forty
        },
      },
      {
        test: {
          name: 'web',
          include: named('web.test'),
          globalSetup: [postgres, temporal, './test/set-up/dashboard.ts'],
          ...slow,
        },
      },
    ],
  },
});
