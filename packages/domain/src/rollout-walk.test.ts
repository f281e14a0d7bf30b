import { afterAll, expect, test } from 'vitest';
import { Coverage } from './testing/coverage.ts';
import { aPendingWorld } from './testing/small-world.ts';
import { walkEverywhere } from './testing/small-world-walk.ts';
import { SMALL_WORLDS } from './testing/small-worlds.ts';

/** A bound against a hang, not an expectation. */
const TIMEOUT_MS = 600_000;

const coverage = new Coverage();
const figures: string[] = [];
afterAll(() => console.log(figures.join('\n')));

test.each(SMALL_WORLDS.map((world) => [world.name, world] as const))(
  'every command and outcome at every step is safe and can end: %s',
  (name, { nodes, rollout, budget }) => {
    const { states, moves, ended, depth } = walkEverywhere(aPendingWorld(nodes, rollout, coverage), budget);
    figures.push(`${name}: ${states} states, ${moves} moves, ${ended} ended, depth ${depth}`);
    expect(ended).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

test('the walk reaches the precondition of every invariant and every edge of both state machines', () => {
  expect(coverage.unreached()).toEqual([]);
});
