import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LimitFigures, SharedFleet } from './testing/shared-fleet.ts';

const at = fc.nat({ max: 1_000 });
const step = <Name extends string>(name: Name) => fc.constant(name);
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: step('ask'), world: at }) },
    {
      weight: 6,
      arbitrary: fc.record({ do: step('begin'), world: at, at, lost: fc.integer({ max: 9 }).map((die) => die === 0) }),
    },
    { weight: 5, arbitrary: fc.record({ do: step('advance'), world: at, at, well: fc.boolean() }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: step('host'),
        at,
        state: fc.constantFrom('down', 'degraded', 'healthy'),
        online: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: step('restart'), world: at }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: step('order'), world: at, at, kind: fc.constantFrom('rollback', 'retry', 'force') }),
    },
    { weight: 2, arbitrary: fc.record({ do: step('time'), ms: fc.constantFrom(1_000, 31_000) }) },
  ),
  { minLength: 40, maxLength: 120 },
);
type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;

const limit = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constantFrom('10%', '25%', '50%'));
const budgets = fc.record({ zones: limit, fleet: limit }).map(({ zones, fleet }) => [
  { name: 'zones', scope: {}, per: 'zone', maxUnavailable: zones },
  { name: 'fleet', scope: { chains: ['chain0', 'chain1'] }, per: null, maxUnavailable: fleet },
]);
const fleets = fc.record({
  sizes: fc.array(fc.integer({ min: 3, max: 8 }), { minLength: 2, maxLength: 3 }),
  strategies: fc.array(fc.constantFrom('rolling', 'all_at_once'), { minLength: 3, maxLength: 3 }),
  budgets,
  steps,
});

const pick = <Item>(items: readonly Item[], index: number): Item | undefined =>
  items[index % Math.max(1, items.length)];

function happen(fleet: SharedFleet, now: number, what: Step): void {
  if (what.do === 'time') return;
  if (what.do === 'host') {
    fleet.set(pick(fleet.nodeIds, what.at) ?? '', what);
    return;
  }
  const world = pick(fleet.worlds, what.world);
  if (world === undefined) return;
  world.now = now;
  if (what.do === 'ask') {
    fleet.look(world);
    world.obey(world.ask());
  } else if (what.do === 'begin') {
    if (world.children.length > 0) fleet.begin(world, what.at % world.children.length, what.lost);
  } else if (what.do === 'restart') {
    // workers die and are started again: every child takes its first step anew
    for (let index = world.children.length - 1; index >= 0; index -= 1) fleet.begin(world, index, false);
  } else if (what.do === 'order') world.order(what.kind, pick(world.rows, what.at)?.nodeId ?? null);
  else {
    const row = pick(world.inFlight(), what.at);
    if (row) world.advance(row, what.well, false);
  }
}

test('no schedule of rollouts, completions, failures and restarts ever exceeds a budget or the quorum limit', () => {
  const figures: LimitFigures = { starts: 0, budgetReached: 0, quorumReached: 0, givenUp: 0 };
  fc.assert(
    fc.property(fleets, ({ sizes, strategies, budgets: specs, steps: all }) => {
      const fleet = new SharedFleet(sizes, specs, strategies, figures);
      let now = 2_000;
      for (const world of fleet.worlds) world.order('start');
      for (const what of all) {
        now += what.do === 'time' ? what.ms : 1;
        happen(fleet, now, what);
      }
    }),
    { numRuns: 400, seed: 7 },
  );
  console.log(`limits: ${JSON.stringify(figures)}`);
  // the limits were really met, and offers were really given up at their begin
  expect(figures.budgetReached).toBeGreaterThan(100);
  expect(figures.quorumReached).toBeGreaterThan(20);
  expect(figures.givenUp).toBeGreaterThan(20);
});
