import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Reconciler } from './feature.ts';
import { ReconcilerRunner } from './reconciler-runner.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

const errors: object[] = [];
const log = { info: () => undefined, warn: () => undefined, error: (fields: object) => void errors.push(fields) };
const LONG_MS = 3_600_000;

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function running(reconcilers: readonly Reconciler[]): Promise<ReconcilerRunner> {
  const runner = new ReconcilerRunner({ databaseUrl: database.url, log, reconcilers });
  await runner.start();
  return runner;
}

function counting(name: string, change: Partial<Reconciler> = {}): Reconciler & { ran: number } {
  const counter = {
    name,
    intervalMs: LONG_MS,
    wokenBy: null,
    runs: 'shared' as const,
    ran: 0,
    run: async () => {
      counter.ran += 1;
      return 0;
    },
    ...change,
  };
  return counter;
}

it('runs again at once while there is something to do, then sleeps', async () => {
  let left = 3;
  let runs = 0;
  const runner = await running([
    counting('busy', {
      run: async () => {
        runs += 1;
        left -= 1;
        return Math.max(left, 0);
      },
    }),
  ]);
  await until(() => left === 0);
  await runner.stop();
  expect(runs).toBe(3);
});

it('is woken by NOTIFY long before its interval', async () => {
  const loop = counting('woken', { wokenBy: 'test_news' });
  const runner = await running([loop]);
  await until(() => loop.ran === 1);
  await sql`notify test_news`.execute(database.db);
  await until(() => loop.ran === 2);
  await runner.stop();
});

it('one that fails is tried again, and keeps no other from running', async () => {
  errors.length = 0;
  let tries = 0;
  const good = counting('good', { intervalMs: 10 });
  const runner = await running([
    counting('bad', {
      run: async () => {
        tries += 1;
        if (tries < 3) throw new Error('the store is away');
        return 0;
      },
    }),
    good,
  ]);
  await until(() => tries === 3 && good.ran > 3);
  await runner.stop();
  expect(errors).toMatchObject([
    { reconciler: 'bad', failures: 1 },
    { reconciler: 'bad', failures: 2 },
  ]);
});

it('a leader loop runs on one instance; when that one goes, another takes over', async () => {
  const first = counting('led', { runs: 'leader', intervalMs: 10 });
  const second = counting('led', { runs: 'leader', intervalMs: 10 });
  const one = await running([first]);
  await until(() => first.ran > 2);
  const two = await running([second]);
  const before = first.ran;
  await until(() => first.ran > before + 5);
  expect(second.ran).toBe(0);
  await one.stop();
  await until(() => second.ran > 2);
  await two.stop();
});

it('a leader whose connection is cut gives up the lead and takes it again', async () => {
  const loop = counting('cut', { runs: 'leader', intervalMs: 10 });
  const runner = await running([loop]);
  await until(() => loop.ran > 2);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
             where application_name = 'hoodcloud leader' and datname = current_database()`.execute(database.db);
  const before = loop.ran;
  await until(() => loop.ran > before + 5);
  await runner.stop();
});

it('a leader whose connection is cut again and again leads again each time, on one connection', async () => {
  // several loops ask at once, so that one connects anew before the old connection has told of its end
  const loops = ['eins', 'zwei', 'drei', 'vier'].map((name) => counting(name, { runs: 'leader', intervalMs: 1 }));
  const runner = await running(loops);
  const ran = () => loops.map((loop) => loop.ran);
  const untilAllRanAgain = async () => {
    const before = ran();
    await until(() => ran().every((runs, index) => runs > (before[index] ?? 0)));
  };
  for (const _ of Array.from({ length: 10 })) {
    await untilAllRanAgain();
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and application_name = 'hoodcloud leader'`.execute(database.db);
  }
  await untilAllRanAgain();
  const { rows } = await sql`select count(*)::int as connections from pg_stat_activity
    where datname = current_database() and application_name = 'hoodcloud leader'`.execute(database.db);
  expect(rows).toEqual([{ connections: 1 }]);
  await runner.stop();
});
