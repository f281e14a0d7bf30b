import type { Database } from '../db/database.ts';
import { retryableOnly } from '../engine/activity-errors.ts';
import type { RolloutActivities } from '../workflows/activity-types.ts';
import { beginRollback } from './begin-rollback.ts';
import { finalizeRollout } from './finalize-rollout.ts';
import type { TargetSources } from './judge-targets.ts';
import { resolveTargets } from './resolve-targets.ts';
import { updateRolloutProgress } from './rollout-progress.ts';

/** Activities of `RolloutWorkflow`; each is one call of the service that does it. */
export function rolloutActivities(db: Database, sources: TargetSources): RolloutActivities {
  return retryableOnly({
    ResolveRolloutTargets: ({ rolloutId }) => resolveTargets(db, sources, rolloutId),
    UpdateRolloutProgress: ({ rolloutId, controlsByHand }) =>
      updateRolloutProgress(db, sources.chains, rolloutId, controlsByHand),
    BeginRollback: ({ rolloutId, reason }) => beginRollback(db, rolloutId, reason),
    FinalizeRollout: async ({ rolloutId, status, reason }) => ({
      final: await finalizeRollout(db, rolloutId, status, reason),
    }),
  });
}
