import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planBatches } from './batch-plan.ts';
import { isEndedNode } from './node-upgrade-status.ts';
import { ROLLOUT_CONTROLS } from './rollout-control.ts';
import { isEndedRollout } from './rollout-status.ts';
import { MIGRATION_TYPES, ROLLOUT_STRATEGIES } from './rollout-strategy-name.ts';
import { checkDecision, checkFirstStep, checkWorld } from './testing/rollout-invariants.ts';
import { RolloutWorld } from './testing/rollout-world.ts';
import { aChain, aNode, aRollout, aRow } from './testing/snapshot-builder.ts';

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

const at = fc.nat({ max: 20 });
const well = fc.integer({ min: 0, max: 3 }).map((die) => die > 0);
const step = <Name extends string>(name: Name) => fc.constant(name);
/** A cancel ends all, so it is rarer than the rest. */
const kind = fc.oneof(
  { weight: 1, arbitrary: step('cancel') },
  { weight: 12, arbitrary: fc.constantFrom(...ROLLOUT_CONTROLS.filter((name) => name !== 'cancel')) },
);
const hostState = fc.constantFrom('healthy', 'degraded', 'syncing');
const aStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: step('ask') }) },
  { weight: 5, arbitrary: fc.record({ do: step('first step'), at, lost: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: step('advance'), at, well, undone: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: step('round'), well }) },
  { weight: 4, arbitrary: fc.record({ do: step('order'), kind, at, byHand: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: step('time'), ms: fc.constantFrom(1, 1_000, 31_000, 130_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: step('host'), at, online: fc.boolean(), state: hostState, busy: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: step('chain'), stands: fc.boolean() }) },
);
type World = typeof aWorld extends fc.Arbitrary<infer Value> ? Value : never;
type Step = typeof aStep extends fc.Arbitrary<infer Value> ? Value : never;

const START: Step = { do: 'order', kind: 'start', at: 0, byHand: false };

function build({ nodes, ...rollout }: World): RolloutWorld {
  const ids = Array.from({ length: nodes }, (_, number) => `n${number}`);
  const batches = planBatches({ ...rollout, seed: 'r1', nodes: ids });
  const rows = ids.map((nodeId) => aRow(nodeId, { batchIndex: batches.get(nodeId) ?? 0 }));
  return new RolloutWorld(aRollout({ ...rollout, status: 'pending', statusChangedAt: 1_000 }), rows);
}

function askAndObey(world: RolloutWorld) {
  const decision = world.ask();
  checkDecision(world, decision);
  world.obey(decision);
  return decision;
}

/** Children take their first step and what runs ends. */
function runAll(world: RolloutWorld, well: boolean): void {
  while (world.children.length > 0) checkFirstStep(world, world.takeFirstStep(0, false));
  for (const row of world.inFlight()) world.advance(row, well, false);
}

function setHost(world: RolloutWorld, nodeId: string, what: Extract<Step, { do: 'host' }>): void {
  const { online, busy, state } = what;
  world.fleet.set(nodeId, aNode(nodeId, { online, state, busyWithRolloutId: busy ? 'r0' : null }));
}

function advanceOne(world: RolloutWorld, { at: which, well, undone }: Extract<Step, { do: 'advance' }>): void {
  const running = world.inFlight();
  const row = running[which % Math.max(running.length, 1)];
  if (row) world.advance(row, well, undone);
}

function act(world: RolloutWorld, what: Step): void {
  const row = 'at' in what ? world.rows[what.at % world.rows.length] : undefined;
  switch (what.do) {
    case 'ask':
      askAndObey(world);
      break;
    case 'first step':
      checkFirstStep(world, world.takeFirstStep(what.at % Math.max(world.children.length, 1), what.lost));
      break;
    case 'advance':
      advanceOne(world, what);
      break;
    case 'round':
      askAndObey(world);
      runAll(world, what.well);
      break;
    case 'order':
      world.order(what.kind, row?.nodeId, what.byHand);
      break;
    case 'time':
      world.now += what.ms;
      break;
    case 'host':
      if (row) setHost(world, row.nodeId, what);
      break;
    case 'chain':
      world.chain = aChain({ bestHeight: 1, heightGrewAt: 0, maxBlockIntervalMs: what.stands ? 1 : null });
  }
}

/** Time passes between any two things that happen, as it does between two transactions. */
function take(world: RolloutWorld, what: Step): void {
  world.now += 1;
  act(world, what);
  checkWorld(world);
}

/** From here on everything goes well, and a person answers whatever the rollout waits for. */
function settle(world: RolloutWorld): void {
  world.chain = aChain();
  for (const { nodeId } of world.rows) world.fleet.set(nodeId, aNode(nodeId));
  world.order('start');
  for (let asked = 0; asked < 200; asked += 1) {
    world.now += 1;
    const decision = askAndObey(world);
    checkWorld(world);
    if (decision.kind === 'finish') return;
    if (decision.kind === 'pause') expect(world.order('resume'), 'a pause can be resumed').toBe(true);
    if (decision.kind === 'wait') {
      if (decision.reasons.some(({ code }) => code === 'waiting_for_approval')) {
        expect(world.order('approve_canary'), 'what waits for an approval can be approved').toBe(true);
      }
      if (decision.until !== null) world.now = decision.until;
    }
    runAll(world, true);
  }
  throw new Error('the rollout came to no end');
}

function simulate(spec: World, steps: readonly Step[]): RolloutWorld {
  const world = build(spec);
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
    fc.assert(property, { numRuns: 300, seed: 7 });
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
