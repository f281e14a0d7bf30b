import type { RolloutDecision } from '../rollout-decision.ts';
import { checkDecision, checkFirstStep, checkWorld } from './rollout-invariants.ts';
import type { RolloutWorld } from './rollout-world.ts';
import { aChain, aNode } from './snapshot-builder.ts';

/** More answers than any end needs, unless a rollout goes in circles. */
const MOST_ANSWERS_PER_NODE = 40;
/** More turns in a row than ever leave every node as it is, unless a rollout stands still for ever. */
const MOST_IDLE_TURNS = 50;

/** Asks, checks the answer and obeys it. */
export function askAndObey(world: RolloutWorld): RolloutDecision {
  const decision = world.ask();
  world.coverage.answer(decision.kind === 'finish' ? `answer: finish ${decision.status}` : `answer: ${decision.kind}`);
  checkDecision(world, decision);
  world.obey(decision);
  return decision;
}

/** Children take their first step and what runs ends. */
export function runAll(world: RolloutWorld, well: boolean): void {
  while (world.children.length > 0) checkFirstStep(world, world.takeFirstStep(world.children.length - 1, false));
  for (const row of world.inFlight()) world.advance(row, well, false);
}

/**
 * One turn in which everything goes well and a person answers whatever the rollout waits for.
 * @returns whether the rollout came to its end
 * @throws when what it waits for can't be given
 */
function settleOnce(world: RolloutWorld): boolean {
  world.now += 1;
  const decision = askAndObey(world);
  checkWorld(world);
  if (decision.kind === 'finish') return true;
  if (decision.kind === 'pause' && !world.order('resume')) throw new Error('a pause that can not be resumed');
  if (decision.kind === 'wait') {
    const approval = decision.reasons.some(({ code }) => code === 'waiting_for_approval');
    if (approval && !world.order('approve_canary')) throw new Error('what waits for an approval can not be approved');
    if (decision.until !== null) world.now = decision.until;
  }
  runAll(world, true);
  checkWorld(world);
  return false;
}

/** From here on hosts and chain are well, and a person starts what was not started. */
export function allIsWell(world: RolloutWorld): void {
  world.chain = aChain();
  for (const { nodeId } of world.rows) world.fleet.set(nodeId, aNode(nodeId));
  world.order('start');
}

/**
 * Brings the world to the rollout's end.
 * @param known told of each world on the way; true when that one is known to come to an end
 * @throws when it comes to none: it is stuck, or goes in circles
 */
export function settle(world: RolloutWorld, known: (world: RolloutWorld) => boolean = () => false): void {
  allIsWell(world);
  const most = MOST_ANSWERS_PER_NODE * (world.rows.length + 5);
  let idle = 0;
  for (let asked = 0; asked < most && idle < MOST_IDLE_TURNS; asked += 1) {
    const before = [...world.rows];
    if (known(world) || settleOnce(world)) return;
    const moved = world.rows.some((row, index) => row !== before[index]);
    idle = moved ? 0 : idle + 1;
  }
  throw new Error('the rollout came to no end');
}
