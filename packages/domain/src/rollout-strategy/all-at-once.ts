import { GO, type RolloutStrategy } from './rollout-strategy.ts';

/** Every node in one batch, for forks with a deadline; a halted chain may be waiting for just that. */
export const allAtOnce: RolloutStrategy = {
  hasCanaries: false,
  inOneBatch: true,
  shuffled: false,
  beforeBatch: () => GO,
  stopsOnHaltedChain: false,
};
