import type { Database } from '../db/database.ts';
import { retryableOnly } from '../engine/activity-errors.ts';
import type { TargetSources } from '../rollouts/judge-targets.ts';
import type { GroupActivities } from '../workflows/activity-types.ts';
import { updateGroupProgress } from './group-progress.ts';

/** The activity of `RolloutGroupWorkflow`. */
export function groupActivities(db: Database, sources: Pick<TargetSources, 'chains'>): GroupActivities {
  return retryableOnly({
    UpdateGroupProgress: ({ groupId, controlsByHand }) => updateGroupProgress(db, sources, groupId, controlsByHand),
  });
}
