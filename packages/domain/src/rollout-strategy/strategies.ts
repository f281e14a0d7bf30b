import type { RolloutStrategyName } from '../rollout-strategy-name.ts';
import { allAtOnce } from './all-at-once.ts';
import { canary } from './canary.ts';
import { rolling } from './rolling.ts';
import type { RolloutStrategy } from './rollout-strategy.ts';

/** Every strategy of the specification; the compiler refuses one without an entry. */
export const STRATEGIES: Readonly<Record<RolloutStrategyName, RolloutStrategy>> = {
  rolling,
  canary,
  all_at_once: allAtOnce,
};
