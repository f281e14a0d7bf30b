import { MIGRATION_TYPES } from '@hoodcloud/domain/rollout-strategy-name';
import { Coverage } from '@hoodcloud/domain/testing/coverage';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keepFigures } from '../proofs/keep-figures.ts';
import { bringToEnd } from './bring-to-end.ts';
import { checkJournal } from './journal.ts';
import { ModelBench } from './model-bench.ts';
import { COMMANDS, type Model, START } from './model-commands.ts';
import type { RolloutUnderTest } from './rollout-under-test.ts';

/** Begins no further run after so long. More by hand: `HOODCLOUD_MODEL_SECONDS=3600`. */
const SECONDS = Number(process.env.HOODCLOUD_MODEL_SECONDS ?? 25);
/** Of the first rollout; the next has the next. By hand: what a failure printed, or where nobody has looked yet. */
const SEED = Number(process.env.HOODCLOUD_MODEL_SEED ?? 1);
/** Looks for a shorter way to a failure, which takes minutes. */
const SHRINK = process.env.HOODCLOUD_MODEL_SHRINK !== undefined;
/** Keeps the figures for docs/guarantees.md. */
const KEEP = process.env.HOODCLOUD_MODEL_KEEP !== undefined;
const MOST_COMMANDS = 40;

/** Several batches more often than not; without fast-check's liking for the smallest, since each seed draws once. */
const aRun = fc.noBias(
  fc.record({
    size: fc.integer({ min: 2, max: 5 }),
    rollout: fc.record({
      strategy: fc.constantFrom('rolling', 'rolling', 'canary', 'canary', 'all_at_once'),
      migration_type: fc.constantFrom(...MIGRATION_TYPES),
      batch_size: fc.constantFrom(1, 1, 2, 3),
      canary_size: fc.integer({ min: 1, max: 2 }),
      failure_threshold: fc.constantFrom(0, 0.5, 1),
      max_failures: fc.constantFrom(null, null, 0, 1, 2),
      max_in_flight: fc.constantFrom(null, null, 1, 2),
      force_continue: fc.constantFrom(false, false, false, false, true),
      health_wait_ms: fc.constant(20),
    }),
    commands: fc.commands<Model, RolloutUnderTest, false>(COMMANDS, { maxCommands: MOST_COMMANDS, size: 'max' }),
  }),
);

let bench: ModelBench;
beforeAll(async () => {
  bench = await ModelBench.open();
});
afterAll(() => bench.close());

/** One rollout, whatever its seed lets happen to it. @throws with what repeats it */
async function play(seed: number, coverage: Coverage): Promise<void> {
  const property = fc.asyncProperty(aRun, async ({ size, rollout, commands }) => {
    const real = await bench.rollout(size, rollout, coverage);
    const model: Model = { world: (await real.untilQuiet()).world };
    await fc.asyncModelRun(() => ({ model, real }), [START, ...commands]);
    await bringToEnd(real, model.world);
    await checkJournal(bench.lab.db, real);
  });
  await fc.assert(property, { seed, numRuns: 1, endOnFailure: !SHRINK }).catch((error: Error) => {
    const again = `HOODCLOUD_MODEL_SEED=${seed} npm run test:workflow -- test/model`;
    throw new Error(`${error.message}\nRepeat it with: ${again}`, { cause: error.cause });
  });
}

it(
  'whatever people order, signal, answer and lose, model, API, rows and workflow agree, and no rule is broken (C2-C13)',
  async () => {
    const coverage = new Coverage();
    const began = Date.now();
    let runs = 0;
    do {
      await play(SEED + runs, coverage);
      runs += 1;
    } while (Date.now() < began + SECONDS * 1000);
    const { commands } = bench;
    console.log(`${coverage.lines().join('\n')}\n${runs} rollouts from seed ${SEED}, ${commands} things happened`);
    const seconds = Math.round((Date.now() - began) / 1000);
    const reached = Object.fromEntries(coverage.counters());
    if (KEEP) keepFigures('model', { seed: SEED, seconds, runs, commands, reached });
    expect(commands).toBeGreaterThan(runs);
  },
  SECONDS * 1000 + 600_000,
);
