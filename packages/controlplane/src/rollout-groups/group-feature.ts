import type { Database } from '../db/database.ts';
import type { Feature } from '../feature.ts';
import type { RolloutSources } from '../rollouts/prepare-rollout.ts';
import { groupActivities } from './group-activities.ts';
import { groupRoutes } from './group-routes.ts';

/** Groups of rollouts: their endpoints and their workflow's question. */
export function groupFeature(db: Database, sources: RolloutSources): Feature {
  return {
    name: 'rollout-groups',
    routes: groupRoutes({ db, sources }),
    activities: { ...groupActivities(db, sources.targets) },
  };
}
