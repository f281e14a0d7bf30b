import type { Database } from '../db/database.ts';
import type { Logger, Reconciler } from '../feature.ts';
import type { NodeStepSources } from '../rollouts/node-upgrade-steps.ts';
import { orderStaging } from './order-staging.ts';
import { takeStagingResults } from './staging-results.ts';

const INTERVAL_MS = 1_000;

/**
 * Has nodes make ready ahead what their rollout wants, and take it back when it wants it no more. From rows alone: what a
 * crash cut off is done at the next look, and no workflow waits for it.
 */
export function stagingLoop(db: Database, sources: NodeStepSources, log: Logger): Reconciler {
  return {
    name: 'staging',
    intervalMs: INTERVAL_MS,
    wokenBy: null,
    runs: 'leader',
    run: async (now) => {
      await takeStagingResults(db);
      await orderStaging(db, sources, log, now);
      return 0; // an order that could be written no sooner waits for a result, not for another look
    },
  };
}
