import { GO, type RolloutStrategy } from './rollout-strategy.ts';

/** `batch_size` nodes at a time, one batch after the other. */
export const rolling: RolloutStrategy = {
  hasCanaries: false,
  inOneBatch: false,
  shuffled: false,
  beforeBatch: () => GO,
  stopsOnHaltedChain: true,
};
