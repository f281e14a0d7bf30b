import { isEndedRollout } from '../rollout-status.ts';
import { makeCanonical, worldKey } from './canonical-world.ts';
import { checkWorld } from './rollout-invariants.ts';
import type { RolloutWorld } from './rollout-world.ts';
import { settle } from './settle.ts';
import { type Budget, movesOf } from './small-world-moves.ts';

/** How a world was reached: the last move and the way before it. */
interface Way {
  readonly move: string;
  readonly before: Way | null;
}

interface Place {
  readonly world: RolloutWorld;
  readonly budget: Budget;
  readonly way: Way | null;
}

export interface WalkFigures {
  /** Different worlds that were reached, up to clock readings. */
  states: number;
  /** Things that happened, in all of them. */
  moves: number;
  /** Of the states, those whose rollout is over. */
  ended: number;
  /** The longest of the shortest ways to a state. */
  depth: number;
}

const waysLength = (way: Way | null): number => {
  let length = 0;
  for (let step = way; step !== null; step = step.before) length += 1;
  return length;
};

function told(way: Way | null): string {
  const moves: string[] = [];
  for (let step = way; step !== null; step = step.before) moves.unshift(step.move);
  return moves.join('\n  ');
}

/**
 * Goes everywhere that a rollout can get: from each world every move is made, each result is checked, and each is shown to
 * come to an end when all goes well from there on. Nearest worlds first, so that a violation is told by a shortest way.
 * @throws with the way to it when an invariant doesn't hold or a world comes to no end
 */
export function walkEverywhere(start: RolloutWorld, budget: Budget): WalkFigures {
  const figures: WalkFigures = { states: 0, moves: 0, ended: 0, depth: 0 };
  const seen = new Set<string>();
  const ending = new Set<string>();
  let frontier: Place[] = [];
  const arrive = (place: Place, into: Place[]): void => {
    makeCanonical(place.world);
    const key = worldKey(place.world);
    const whole = `${key}|${place.budget.orders}|${place.budget.faults}`;
    if (seen.has(whole)) return;
    seen.add(whole);
    figures.states += 1;
    figures.ended += isEndedRollout(place.world.rollout.status) ? 1 : 0;
    into.push(place);
    guarded(place.way, () => proveEnd(place.world, ending));
  };
  arrive({ world: start.copy(), budget, way: null }, frontier);
  while (frontier.length > 0) {
    const next: Place[] = [];
    for (const { world, budget: left, way } of frontier) {
      for (const move of movesOf(world, left)) {
        const there = world.copy();
        there.now += 1;
        const here = { move: move.name, before: way };
        const came = guarded(here, () => {
          const happened = move.make(there);
          if (happened) checkWorld(there);
          return happened;
        });
        if (!came) continue;
        figures.moves += 1;
        arrive({ world: there, budget: move.budget, way: here }, next);
      }
    }
    if (next.length > 0) figures.depth = waysLength(next[0]?.way ?? null);
    frontier = next;
  }
  return figures;
}

/** Settles a copy until it ends or is where an earlier one was. */
function proveEnd(world: RolloutWorld, ending: Set<string>): void {
  const onTheWay: string[] = [];
  settle(world.copy(), (there) => {
    const canonical = there.copy();
    makeCanonical(canonical);
    const key = worldKey(canonical);
    if (ending.has(key)) return true;
    onTheWay.push(key);
    return false;
  });
  for (const key of onTheWay) ending.add(key);
}

function guarded<T>(way: Way | null, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${why}\nThe way there:\n  ${told(way)}`, { cause: error });
  }
}
