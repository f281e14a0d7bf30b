import type { RolloutDecision } from '@hoodcloud/domain/rollout-decision';
import { checkFirstStep, checkWorld } from '@hoodcloud/domain/testing/rollout-invariants';
import type { RolloutWorld } from '@hoodcloud/domain/testing/rollout-world';
import { askAndObey } from '@hoodcloud/domain/testing/settle';

/** More answers than any rollout of a test gives between two standstills. */
const MOST_ANSWERS = 200;

/** Lets the model obey until it waits for somebody; its invariants are checked on the way. */
export function untilModelQuiet(world: RolloutWorld): RolloutDecision {
  for (let asked = 0; asked < MOST_ANSWERS; asked += 1) {
    world.now += 1;
    const decision = askAndObey(world);
    while (world.children.length > 0) checkFirstStep(world, world.takeFirstStep(0, false));
    checkWorld(world);
    if (decision.kind === 'wait' && decision.until !== null) world.now = Math.max(world.now, decision.until);
    else if (decision.kind !== 'run' && decision.kind !== 'roll_back') return decision;
  }
  throw new Error('the model goes on for ever');
}
