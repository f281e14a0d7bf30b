import { isEndedRollout } from '@hoodcloud/domain/rollout-status';
import type { RolloutWorld } from '@hoodcloud/domain/testing/rollout-world';
import type { RolloutUnderTest } from './rollout-under-test.ts';

/** More turns than any rollout of a test needs to its end. */
const MOST_TURNS = 60;

/**
 * Lets all go well and answers whatever the rollout waits for, until it is over: wherever the commands left it, it can end.
 * @throws when it comes to no end
 */
export async function bringToEnd(real: RolloutUnderTest, from: RolloutWorld): Promise<RolloutWorld> {
  let world = from;
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const flying = world.inFlight();
    if (isEndedRollout(world.rollout.status) && flying.length === 0) return world;
    if (flying.length > 0) await Promise.all(flying.map((row) => real.goOn(row, { well: true, undone: false })));
    else await real.order(whatIsWaitedFor(world), null);
    world = (await real.untilQuiet()).world;
  }
  throw new Error(`${real.id} came to no end: it is ${world.rollout.status}`);
}

function whatIsWaitedFor(world: RolloutWorld): 'start' | 'resume' | 'approve_canary' {
  if (world.rollout.status === 'pending') return 'start';
  if (world.rollout.status === 'paused') return 'resume';
  const due = world.ask();
  const approval = due.kind === 'wait' && due.reasons.some(({ code }) => code === 'waiting_for_approval');
  if (!approval) throw new Error(`nobody can help ${world.rollout.id}: ${JSON.stringify(due)}`);
  return 'approve_canary';
}
