import { ROLLOUT_CONTROLS } from '@hoodcloud/domain/rollout-control';
import type { RolloutWorld } from '@hoodcloud/domain/testing/rollout-world';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Happening } from './happenings.ts';
import * as happenings from './happenings.ts';
import { pictureOf, toldDecision } from './picture.ts';
import { untilModelQuiet } from './prediction.ts';
import type { RolloutUnderTest } from './rollout-under-test.ts';

/** What the model knows: the world as it was when everything stood still. */
export interface Model {
  world: RolloutWorld;
}

export type ModelCommand = fc.AsyncCommand<Model, RolloutUnderTest>;

/** One thing happens; model and reality agree about what the API answers and what comes of it. */
class One implements ModelCommand {
  readonly #what: Happening;

  constructor(what: Happening) {
    this.#what = what;
  }

  check({ world }: Model): boolean {
    return this.#what.possible(world);
  }

  async run(model: Model, real: RolloutUnderTest): Promise<void> {
    real.bench.commands += 1;
    const predicted = model.world.copy();
    predicted.now += 1;
    const answer = this.#what.inModel(predicted);
    const decision = untilModelQuiet(predicted);
    expect(await this.#what.inReality(real, model.world), `${this}`).toBe(answer);
    const { world, told } = await real.untilQuiet();
    expect({ told, ...pictureOf(world) }, `${this}`).toEqual({ told: toldDecision(decision), ...pictureOf(predicted) });
    model.world = world;
  }

  toString(): string {
    return this.#what.name;
  }
}

/**
 * Several things happen at once, or one after another while no worker runs, so that there is no one right end. The rules
 * hold at every look, and afterwards the rollout stands where its rows say.
 */
class Several implements ModelCommand {
  readonly #all: readonly Happening[];
  readonly #workerAway: boolean;

  constructor(all: readonly Happening[], workerAway: boolean) {
    this.#all = all;
    this.#workerAway = workerAway;
  }

  check({ world }: Model): boolean {
    return this.#all.some((what) => what.possible(world));
  }

  async run(model: Model, real: RolloutUnderTest): Promise<void> {
    const { world } = model;
    const possible = this.#all.filter((what) => what.possible(world));
    real.bench.commands += possible.length;
    const happen = async (what: Happening) => {
      const answer = await what.inReality(real, world).catch(unlessTheWorkflowEnded);
      expect([null, 200, 409], `${this}`).toContain(answer);
    };
    if (this.#workerAway) {
      await real.bench.lab.stopWorker();
      for (const what of possible) await happen(what);
      await real.bench.lab.startWorker();
    } else {
      await Promise.all(possible.map(happen));
    }
    model.world = (await real.untilQuiet()).world;
  }

  toString(): string {
    const names = this.#all.map(({ name }) => name).join(', ');
    return `${this.#workerAway ? 'without a worker' : 'at once'} [${names}]`;
  }
}

/** A signal meets nobody when what happened beside it ended the rollout. */
function unlessTheWorkflowEnded(error: unknown): null {
  if (error instanceof Error && error.name === 'WorkflowNotFoundError') return null;
  throw error;
}

const at = fc.nat({ max: 11 });
const kind = fc.oneof(
  { weight: 1, arbitrary: fc.constant('cancel' as const) },
  { weight: 24, arbitrary: fc.constantFrom(...ROLLOUT_CONTROLS.filter((name) => name !== 'cancel')) },
);
const well = fc.integer({ min: 0, max: 3 }).map((die) => die > 0);
const goesOn = fc.record({ at, well, undone: fc.boolean() });
const anOrder = fc.tuple(kind, at).map(([name, node]) => happenings.order(name, node));
const aSignal = fc.constantFrom(...happenings.BY_HAND).map(happenings.signal);
const anOutcome = goesOn.map((how) => happenings.goOn(how.at, how));
const aFault = fc.oneof(
  fc.constantFrom(happenings.RESTARTED_RELAY, happenings.LOST_WORKFLOW, happenings.RESTARTED_WORKER),
  at.map(happenings.reconnected),
);
const anything = fc.oneof(
  { weight: 4, arbitrary: anOrder },
  { weight: 2, arbitrary: aSignal },
  { weight: 5, arbitrary: anOutcome },
);

/** The first command: without it there is nothing to see. */
export const START: ModelCommand = new One(happenings.order('start', 0));

/** Everything that can happen to a rollout, the ordinary more often. */
export const COMMANDS: fc.Arbitrary<ModelCommand>[] = [
  anOutcome.map((what) => new One(what)),
  anOutcome.map((what) => new One(what)),
  anOrder.map((what) => new One(what)),
  anOrder.map((what) => new One(what)),
  aSignal.map((what) => new One(what)),
  aFault.map((what) => new One(what)),
  fc.constant(new One(happenings.HOURS_LATER)),
  fc
    .array(fc.oneof({ weight: 5, arbitrary: anything }, { weight: 1, arbitrary: aFault }), {
      minLength: 2,
      maxLength: 5,
    })
    .map((all) => new Several(all, false)),
  fc.array(anything, { minLength: 1, maxLength: 4 }).map((all) => new Several(all, true)),
];
