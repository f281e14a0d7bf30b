import type { RolloutFacts } from '../rollout-snapshot.ts';
import type { Budget } from './small-world-moves.ts';

export interface SmallWorld {
  readonly name: string;
  readonly nodes: number;
  readonly rollout: Partial<RolloutFacts>;
  readonly budget: Budget;
}

/** One order, or one fault, at every step of every way. */
const ORDER: Budget = { orders: 1, faults: 0 };
const FAULT: Budget = { orders: 0, faults: 1 };
/** Two orders in every order of every kind. */
const ORDERS: Budget = { orders: 2, faults: 0 };

const rolling = { strategy: 'rolling', batchSize: 2 } as const;
const canary = { strategy: 'canary', batchSize: 2, canarySize: 1, healthWaitMs: 15_000 } as const;
const breaking = { ...canary, migrationType: 'breaking' } as const;
/** It fails where another would pause, and its group takes back what was upgraded (C4, C10). */
const component = { batchSize: 1, maxFailures: 0, groupFailurePolicy: 'rollback_all' } as const;
const tolerant = { ...rolling, failureThreshold: 0.5, maxFailures: 1, offlinePolicy: 'wait' } as const;

/** The worlds that are walked in every run: three nodes in two batches, and fewer where more meets. */
export const SMALL_WORLDS: readonly SmallWorld[] = [
  { name: 'rolling, one order', nodes: 3, rollout: rolling, budget: ORDER },
  { name: 'rolling, one fault', nodes: 3, rollout: rolling, budget: FAULT },
  { name: 'rolling within limits, one order', nodes: 3, rollout: { ...tolerant, maxInFlight: 1 }, budget: ORDER },
  { name: 'rolling within limits, one fault', nodes: 3, rollout: { ...tolerant, maxInFlight: 1 }, budget: FAULT },
  { name: 'canary, one order', nodes: 3, rollout: canary, budget: ORDER },
  { name: 'canary, one fault', nodes: 3, rollout: canary, budget: FAULT },
  { name: 'breaking canary, one order', nodes: 3, rollout: breaking, budget: ORDER },
  { name: 'all at once, one order', nodes: 2, rollout: { strategy: 'all_at_once' }, budget: ORDER },
  { name: 'forced, one order', nodes: 2, rollout: { batchSize: 1, forceContinue: true }, budget: ORDER },
  { name: 'component of a group that goes back, one order', nodes: 2, rollout: component, budget: ORDER },
  { name: 'rolling, two orders', nodes: 2, rollout: { batchSize: 1 }, budget: ORDERS },
  { name: 'breaking canary, two orders', nodes: 2, rollout: { ...breaking, batchSize: 1 }, budget: ORDERS },
];
