import fc from 'fast-check';
import type { RolloutFacts } from '../rollout-snapshot.ts';
import { MIGRATION_TYPES, ROLLOUT_STRATEGIES } from '../rollout-strategy-name.ts';
import { Coverage } from './coverage.ts';
import { randomStep, START, type Step, take } from './random-steps.ts';
import { settle } from './settle.ts';
import { aPendingWorld } from './small-world.ts';

export interface SimulationOrder {
  /** The same seed and steps give the same run. */
  readonly seed: number;
  /** Ends after so many steps, with the rollout that is under way. */
  readonly steps: number;
  /** Nodes of the largest fleet. */
  readonly mostNodes?: number;
  /** Told after each rollout. */
  readonly onRollout?: (figures: SimulationFigures) => void;
}

export interface SimulationFigures {
  readonly coverage: Coverage;
  readonly rollouts: number;
  readonly steps: number;
  /** Nodes of all rollouts. */
  readonly nodes: number;
}

/** How many steps a rollout is disturbed for at most before it is let come to its end. */
const MOST_STEPS = 160;
/** How many hosts one fault reaches at most. */
const RACK = 120;

const aFleet = (mostNodes: number) =>
  fc.record({
    disturbed: fc.integer({ min: 5, max: MOST_STEPS }),
    nodes: fc.integer({ min: Math.min(1_000, mostNodes), max: mostNodes }),
    strategy: fc.constantFrom(...ROLLOUT_STRATEGIES),
    migrationType: fc.constantFrom(...MIGRATION_TYPES),
    batchSize: fc.integer({ min: 20, max: 600 }),
    canarySize: fc.integer({ min: 1, max: 20 }),
    failureThreshold: fc.constantFrom(0, 0.05, 0.25, 1),
    maxFailures: fc.option(fc.integer({ min: 0, max: 200 })),
    minAttempted: fc.integer({ min: 1, max: 50 }),
    maxInFlight: fc.option(fc.integer({ min: 10, max: 400 })),
    forceContinue: fc.boolean(),
    offlinePolicy: fc.constantFrom('skip', 'wait'),
  } satisfies { [Key in keyof RolloutFacts]?: fc.Arbitrary<RolloutFacts[Key]> } & {
    nodes: fc.Arbitrary<number>;
    disturbed: fc.Arbitrary<number>;
  });

/** A rollout failed a rule; the message has the rule, and what repeats it. */
function failed(error: unknown, order: SimulationOrder, rollout: number, steps: readonly Step[]): Error {
  const last = steps.slice(-8).map((step) => `  ${JSON.stringify(step)}`);
  const again = `npm run sim -- --seed ${order.seed} --steps ${order.steps}`;
  const more = order.mostNodes ? ` --nodes ${order.mostNodes}` : '';
  const lines = [`Rollout ${rollout} of the simulation, after:`, ...last, `Repeat it with: ${again}${more}`];
  return new Error(`${error instanceof Error ? error.message : String(error)}\n${lines.join('\n')}`, { cause: error });
}

/**
 * Rollouts over fleets of thousands of nodes, one after the other: whatever hosts, chain, children and people do, drawn by
 * one seed, the invariants hold after every step, and each rollout comes to its end when all is well again.
 * @throws with the command that repeats the run when an invariant doesn't hold or a rollout comes to no end
 */
export function simulateFleets(order: SimulationOrder): SimulationFigures {
  const coverage = new Coverage();
  const aStep = randomStep(RACK);
  let figures: SimulationFigures = { coverage, rollouts: 0, steps: 0, nodes: 0 };
  while (figures.steps < order.steps) {
    const seed = order.seed + figures.rollouts * 1_000_003;
    const [fleet] = fc.sample(aFleet(order.mostNodes ?? 3_000), { seed, numRuns: 1 });
    if (fleet === undefined) throw new Error('fast-check drew no fleet');
    const { nodes, disturbed, ...rollout } = fleet;
    const world = aPendingWorld(nodes, rollout, coverage);
    const steps = [START, ...fc.sample(aStep, { seed, numRuns: disturbed })];
    let taken = 0;
    try {
      for (; taken < steps.length; taken += 1) take(world, steps[taken] ?? START);
      settle(world);
    } catch (error) {
      throw failed(error, order, figures.rollouts + 1, steps.slice(0, taken + 1));
    }
    const { rollouts: before, steps: stepsBefore, nodes: nodesBefore } = figures;
    figures = { coverage, rollouts: before + 1, steps: stepsBefore + steps.length, nodes: nodesBefore + nodes };
    order.onRollout?.(figures);
  }
  return figures;
}
