import { dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CrashCell, cellsOf, FAULTS, type Fault, nameOf, sampleCells } from './crash-cells.ts';
import { CrashGround } from './crash-ground.ts';
import { CrashLane, type CrashOutcome } from './crash-lane.ts';
import { type Crash, described, keepMatrix, type Watched } from './crash-results.ts';
import type { Adapter } from './runtimes.ts';

const ADAPTERS: readonly Adapter[] = ['systemd', 'docker', 'process'];
/** `npm test` runs a sample, `npm run test:crash` everything (docs/testing.md). `sample` keeps what a sample saw. */
const MODE = process.env.HOODCLOUD_CRASH;
const WHOLE = MODE !== undefined && MODE !== 'sample';
/** Of so many cells a sample has one. */
const SAMPLE = 10;
/** A disk that can be filled is one that a power cut takes away: such faults have a host of their own. */
const ON_SMALL_DISK: readonly Fault[] = ['disk_full'];

const COLUMNS = ADAPTERS.flatMap((adapter, row) =>
  FAULTS.map((fault, column) => ({ all: cellsOf(adapter, fault), begin: row + 3 * column })),
);
const EVERY_CELL: readonly CrashCell[] = COLUMNS.flatMap(({ all }) => all);
const CELLS: readonly CrashCell[] = WHOLE
  ? EVERY_CELL
  : COLUMNS.flatMap(({ all, begin }) => sampleCells(all, SAMPLE, begin));
const titleOf = (cell: CrashCell) => `${nameOf(cell)}: all old or all new, told as it is`;
const SUMMARY = 'no two instances ever lived at once (A19)';

describe.skipIf(!dockerAvailable())('a fault in an upgrade', () => {
  let ground: CrashGround;
  const outcomes = new Map<string, Promise<CrashOutcome>>();
  const chains: Promise<unknown>[] = [];
  const watched: Watched[] = [];

  // biome-ignore lint/correctness/noEmptyPattern: vitest wants the first argument of a hook destructured
  beforeAll(async ({}, suite) => {
    // with `-t` only the cells that are asked for are run
    const asked = new Set(suite.tasks.filter(({ mode }) => mode === 'run').map(({ name }) => name));
    const wanted = CELLS.filter((cell) => asked.has(titleOf(cell)));
    ground = await CrashGround.prepare();
    console.log(`a cell that breaks a rule leaves its log in ${ground.logs}`);
    // one host of each runtime at a time, the runtimes side by side
    for (const adapter of ADAPTERS) {
      const own = wanted.filter((cell) => cell.adapter === adapter);
      let turn: Promise<unknown> = Promise.resolve();
      for (const small of [false, true]) {
        const cells = own.filter(({ fault }) => ON_SMALL_DISK.includes(fault) === small);
        if (cells.length > 0) turn = runOnHost(turn, adapter, small, cells);
      }
      chains.push(turn);
    }
  });

  afterAll(async () => {
    await Promise.allSettled(chains);
    if (MODE !== undefined) await keepMatrix(EVERY_CELL, await seen(), watched);
    await ground.close();
  });

  /** Cells of one host one after another; after a broken rule it goes on with a new host. @returns when all have ended */
  function runOnHost(
    after: Promise<unknown>,
    adapter: Adapter,
    small: boolean,
    cells: readonly CrashCell[],
  ): Promise<unknown> {
    const open = () => CrashLane.open(ground, adapter, small ? `${adapter}-s` : adapter, small);
    const close = async (lane: CrashLane) => {
      const { samples, most, doubles } = await lane.watched();
      watched.push({ looks: samples, most, doubles: doubles.map((double) => `${adapter}: ${double}`) });
      console.log(`${adapter}: a watcher looked ${samples} times and saw at most ${most} alive`);
      await lane.close();
    };
    let turn: Promise<CrashLane> = after.then(open);
    for (const cell of cells) {
      const outcome = turn.then((lane) => lane.run(cell));
      outcomes.set(nameOf(cell), outcome);
      const lane = turn;
      turn = outcome.then(
        async ({ violations }) => {
          if (violations.length === 0) return lane;
          await close(await lane);
          return open();
        },
        async () => {
          await close(await lane);
          return open();
        },
      );
      turn.catch(() => undefined); // the tests of its cells say it
    }
    return turn.then(close, () => undefined);
  }

  async function seen(): Promise<Crash[]> {
    const done = CELLS.filter((cell) => outcomes.has(nameOf(cell)));
    return Promise.all(
      done.map((cell) =>
        outcomeOf(cell).then(
          (outcome) => ({ cell, seen: described(outcome) }),
          (error: Error) => ({ cell, seen: `broken: ${error.message.split('\n')[0]}` }),
        ),
      ),
    );
  }

  async function outcomeOf(cell: CrashCell): Promise<CrashOutcome> {
    const outcome = await outcomes.get(nameOf(cell));
    if (outcome === undefined) throw new Error(`${nameOf(cell)} was not run`);
    return outcome;
  }

  it.each(CELLS.map((cell) => [titleOf(cell), cell] as const))('%s', { timeout: 7_200_000 }, async (_, cell) => {
    const { violations, log } = await outcomeOf(cell);
    expect(violations.join('\n'), log).toBe('');
  });

  it(SUMMARY, { timeout: 7_200_000 }, async () => {
    await Promise.allSettled(chains);
    expect(watched.flatMap(({ doubles }) => doubles)).toEqual([]);
    expect(watched.map(({ most }) => most)).toEqual(watched.map(() => 1)); // each did see the one that runs
  });
});
