import fc from 'fast-check';
import { ROLLOUT_CONTROLS } from '../rollout-control.ts';
import { checkFirstStep, checkWorld } from './rollout-invariants.ts';
import type { RolloutWorld } from './rollout-world.ts';
import { askAndObey, runAll } from './settle.ts';
import { aChain, aNode } from './snapshot-builder.ts';

const at = fc.nat({ max: 100_000 });
const well = fc.integer({ min: 0, max: 3 }).map((die) => die > 0);
const step = <Name extends string>(name: Name) => fc.constant(name);
/** A cancel ends all, so it is rarer than the rest. */
const kind = fc.oneof(
  { weight: 1, arbitrary: step('cancel') },
  { weight: 24, arbitrary: fc.constantFrom(...ROLLOUT_CONTROLS.filter((name) => name !== 'cancel')) },
);
const hostState = fc.constantFrom('healthy', 'degraded', 'syncing');
const milliseconds = fc.constantFrom(1, 1_000, 31_000, 130_000);

/**
 * For tests: one thing that happens to a rollout, drawn at random.
 * @param most how many neighbours one fault, first step or outcome reaches at most: 1 in small worlds, a rack in fleets
 */
export function randomStep(most: number) {
  const count = fc.integer({ min: 1, max: most });
  const host = { at, count, online: fc.boolean(), state: hostState, busy: fc.boolean() };
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: step('ask') }) },
    { weight: 5, arbitrary: fc.record({ do: step('first step'), at, count, lost: fc.boolean() }) },
    { weight: 6, arbitrary: fc.record({ do: step('advance'), at, count, well, undone: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: step('round'), well }) },
    { weight: 4, arbitrary: fc.record({ do: step('order'), kind, at, count, byHand: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: step('time'), ms: milliseconds }) },
    { weight: 2, arbitrary: fc.record({ do: step('host'), ...host }) },
    { weight: 1, arbitrary: fc.record({ do: step('chain'), stands: fc.boolean() }) },
  );
}
export type Step = ReturnType<typeof randomStep> extends fc.Arbitrary<infer Value> ? Value : never;

/** The first thing that happens: without it there is nothing to see. */
export const START: Step = { do: 'order', kind: 'start', at: 0, count: 1, byHand: false };

/** The items from a place on, as many as asked for, beginning again at the front. */
function some<Item>(
  items: readonly Item[],
  { at: from, count }: { readonly at: number; readonly count: number },
): Item[] {
  const picked: Item[] = [];
  for (let index = 0; index < Math.min(count, items.length); index += 1) {
    const item = items[(from + index) % items.length];
    if (item !== undefined) picked.push(item);
  }
  return picked;
}

function setHosts(world: RolloutWorld, what: Extract<Step, { do: 'host' }>): void {
  const { online, busy, state } = what;
  for (const { nodeId } of some(world.rows, what)) {
    world.fleet.set(nodeId, aNode(nodeId, { online, state, busyWithRolloutId: busy ? 'r0' : null }));
  }
}

function takeFirstSteps(world: RolloutWorld, what: Extract<Step, { do: 'first step' }>): void {
  for (let taken = 0; taken < what.count && world.children.length > 0; taken += 1) {
    checkFirstStep(world, world.takeFirstStep(what.at % world.children.length, what.lost));
  }
}

function order(world: RolloutWorld, what: Extract<Step, { do: 'order' }>): void {
  const { kind: control, byHand } = what;
  if (control !== 'retry' && control !== 'skip') world.order(control, null, byHand);
  else for (const { nodeId } of some(world.rows, what)) world.order(control, nodeId, byHand);
}

function act(world: RolloutWorld, what: Step): void {
  switch (what.do) {
    case 'ask':
      askAndObey(world);
      break;
    case 'first step':
      takeFirstSteps(world, what);
      break;
    case 'advance':
      for (const row of some(world.inFlight(), what)) world.advance(row, what.well, what.undone);
      break;
    case 'round':
      askAndObey(world);
      runAll(world, what.well);
      break;
    case 'order':
      order(world, what);
      break;
    case 'time':
      world.now += what.ms;
      break;
    case 'host':
      setHosts(world, what);
      break;
    case 'chain':
      world.chain = aChain({ bestHeight: 1, heightGrewAt: 0, maxBlockIntervalMs: what.stands ? 1 : null });
  }
}

/** Lets a step happen and checks the world. Time passes between any two, as it does between two transactions. */
export function take(world: RolloutWorld, what: Step): void {
  world.now += 1;
  act(world, what);
  checkWorld(world);
}
