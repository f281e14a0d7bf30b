import { parseArgs } from 'node:util';
import { Coverage } from '@hoodcloud/domain/testing/coverage';
import { simulateFleets } from '@hoodcloud/domain/testing/simulate-fleets';
import { aPendingWorld } from '@hoodcloud/domain/testing/small-world';
import { walkEverywhere } from '@hoodcloud/domain/testing/small-world-walk';
import { SMALL_WORLDS } from '@hoodcloud/domain/testing/small-worlds';
import { keepFigures } from '../proofs/keep-figures.ts';

const USAGE = `npm run sim -- [--seed N] [--steps N] [--nodes N]
npm run sim -- --walk [--orders N] [--faults N]    each with [--keep]
  --seed N    the same seed and steps give the same run; left out: drawn and printed
  --steps N   ends after so many steps (default 10000)
  --nodes N   nodes of the largest fleet (default 3000)
  --walk      instead, go to every state of small worlds
  --orders N  how many orders of people may come on one way (default: as in the tests)
  --faults N  how many faults may happen on one way (default: as in the tests)
  --keep      keeps the figures for docs/guarantees.md`;

const options = {
  seed: { type: 'string' },
  steps: { type: 'string', default: '10000' },
  nodes: { type: 'string', default: '3000' },
  walk: { type: 'boolean', default: false },
  orders: { type: 'string' },
  faults: { type: 'string' },
  keep: { type: 'boolean', default: false },
} as const;

/** @throws when the text is no whole number of at least 0 */
function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}".`);
  return Number(text);
}

function simulate(values: { seed?: string | undefined; steps: string; nodes: string; keep: boolean }): void {
  const seed = values.seed ? wholeNumber('seed', values.seed) : Math.floor(Math.random() * 1_000_000);
  const steps = wholeNumber('steps', values.steps);
  const mostNodes = wholeNumber('nodes', values.nodes);
  console.log(`seed ${seed}, ${steps} steps, fleets of up to ${mostNodes} nodes`);
  const started = Date.now();
  const { coverage, ...figures } = simulateFleets({
    ...{ seed, steps, mostNodes },
    onRollout: ({ rollouts, steps: taken }) => {
      if (rollouts % 50 === 0) console.log(`${rollouts} rollouts, ${taken} steps`);
    },
  });
  report(coverage);
  const seconds = secondsSince(started);
  if (values.keep) keepFigures('fleets', { seed, mostNodes, seconds, ...figures, ...reachedIn(coverage) });
  console.log(`${figures.rollouts} rollouts of ${figures.nodes} nodes, ${figures.steps} steps in ${seconds} s`);
}

function walk(values: { orders?: string | undefined; faults?: string | undefined; keep: boolean }): void {
  const coverage = new Coverage();
  const started = Date.now();
  const worlds: object[] = [];
  for (const { name, nodes, rollout, budget } of SMALL_WORLDS) {
    const orders = values.orders ? wholeNumber('orders', values.orders) : budget.orders;
    const faults = values.faults ? wholeNumber('faults', values.faults) : budget.faults;
    const { states, moves, ended, depth } = walkEverywhere(aPendingWorld(nodes, rollout, coverage), { orders, faults });
    console.log(`${name}: ${states} states, ${moves} moves, ${ended} of the states ended, depth ${depth}`);
    worlds.push({ name, nodes, orders, faults, states, moves, ended, depth });
  }
  report(coverage);
  const seconds = secondsSince(started);
  if (values.keep) keepFigures('walk', { seconds, worlds, ...reachedIn(coverage) });
}

/** For the page: how often what was reached, and what never. */
function reachedIn(coverage: Coverage): object {
  return { reached: Object.fromEntries(coverage.counters()), never: coverage.unreached() };
}

function secondsSince(started: number): number {
  return Math.round((Date.now() - started) / 100) / 10;
}

/** How often each invariant's precondition and each edge was reached, the rarest first. */
function report(coverage: Coverage): void {
  console.log(`\n${coverage.lines().join('\n')}`);
  const never = coverage.unreached();
  console.log(`\n0 violations; never reached: ${never.length === 0 ? 'nothing' : never.join(', ')}`);
}

try {
  const { values } = parseArgs({ options });
  if (values.walk) walk(values);
  else simulate(values);
} catch (error) {
  const usage = error instanceof Error && error.message.startsWith('--') ? `\n${USAGE}` : '';
  console.error(`${error instanceof Error ? error.message : String(error)}${usage}`);
  process.exitCode = 1;
}
