import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isEndedNode } from './node-upgrade-status.ts';
import { isEndedRollout } from './rollout-status.ts';
import { MIGRATION_TYPES, ROLLOUT_STRATEGIES } from './rollout-strategy-name.ts';
import { randomStep, START, type Step, take } from './testing/random-steps.ts';
import type { RolloutWorld } from './testing/rollout-world.ts';
import { settle } from './testing/settle.ts';
import { simulateFleets } from './testing/simulate-fleets.ts';
import { aPendingWorld } from './testing/small-world.ts';

/** A bound against a hang, not an expectation: the default takes seconds. */
const TIMEOUT_MS = 600_000;
/** More by hand: `HOODCLOUD_SIMULATION_RUNS=20000`. A failure prints the seed and path that repeat it. */
const RUNS = Number(process.env.HOODCLOUD_SIMULATION_RUNS ?? 400);

const aWorld = fc.record({
  nodes: fc.integer({ min: 1, max: 9 }),
  strategy: fc.constantFrom(...ROLLOUT_STRATEGIES),
  migrationType: fc.constantFrom(...MIGRATION_TYPES),
  batchSize: fc.integer({ min: 1, max: 4 }),
  canarySize: fc.integer({ min: 1, max: 2 }),
  failureThreshold: fc.constantFrom(0, 0.25, 0.5, 1),
  maxFailures: fc.option(fc.integer({ min: 0, max: 3 })),
  minAttempted: fc.integer({ min: 1, max: 3 }),
  maxInFlight: fc.option(fc.integer({ min: 1, max: 3 })),
  forceContinue: fc.boolean(),
  offlinePolicy: fc.constantFrom('skip', 'wait'),
});

type World = typeof aWorld extends fc.Arbitrary<infer Value> ? Value : never;

const aStep = randomStep(1);

function simulate(spec: World, steps: readonly Step[]): RolloutWorld {
  const { nodes, ...rollout } = spec;
  const world = aPendingWorld(nodes, rollout);
  for (const what of steps) take(world, what);
  settle(world);
  return world;
}

test(
  'whatever nodes, hosts, chain and people do, no rule is broken and the rollout comes to its end',
  () => {
    fc.assert(
      fc.property(aWorld, fc.array(aStep, { maxLength: 60 }), (spec, steps) => {
        const { rollout, rows } = simulate(spec, [START, ...steps]);
        expect(isEndedRollout(rollout.status)).toBe(true);
        if (rollout.status === 'completed') expect(rows.every((row) => isEndedNode(row.status))).toBe(true);
      }),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

test(
  'the simulation reaches every kind of end, so that its silence means something',
  () => {
    const ends = new Set<string>();
    const property = fc.property(aWorld, fc.array(aStep, { minLength: 20, maxLength: 60 }), (spec, steps) => {
      const { rollout } = simulate(spec, [START, ...steps]);
      ends.add(`${rollout.direction} ${rollout.status} ${rollout.statusReason}`);
    });
    fc.assert(property, { numRuns: 1_000, seed: 7 });
    expect([...ends].sort()).toEqual([
      'rollback canceled canceled_by_operator',
      'rollback failed rollback_incomplete',
      'rollback rolled_back rollback_completed',
      'upgrade canceled canceled_by_operator',
      'upgrade completed all_nodes_ended',
      'upgrade failed no_eligible_targets',
    ]);
  },
  TIMEOUT_MS,
);

test(
  'fleets of thousands of nodes keep every rule after every step, whatever happens',
  () => {
    const { coverage, rollouts, nodes, steps } = simulateFleets({ seed: 7, steps: 600 });
    expect(steps).toBeGreaterThanOrEqual(600);
    expect(nodes / rollouts).toBeGreaterThan(1_000);
    // every rule is reached by rollout-walk.test.ts; here those that only numbers strain
    for (const name of ['max_in_flight', 'batch_size', 'one_batch', 'stands_still'] as const) {
      expect(coverage.invariants.get(name) ?? 0, name).toBeGreaterThan(10);
    }
  },
  TIMEOUT_MS,
);
