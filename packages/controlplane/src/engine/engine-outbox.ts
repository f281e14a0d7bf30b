import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { GroupControlSignal } from '../workflows/activity-types.ts';
import { groupWorkflowId, nodeWorkflowId, rolloutWorkflowId } from '../workflows/workflow-ids.ts';

/** Signals of `RolloutWorkflow`: the specification's names, and `wake` for what no person ordered (C7a). */
export type RolloutSignal = 'pause' | 'resume' | 'cancel' | 'force' | 'approve_canary' | 'wake';

/**
 * Writes "this rollout must ask again"; the relay delivers it by signal-with-start, so a vanished workflow starts anew (B4).
 * @param afterMs delivered no sooner than in so many milliseconds
 */
export async function wakeRollout(
  db: Db,
  rolloutId: string,
  signal: RolloutSignal = 'wake',
  afterMs = 0,
): Promise<void> {
  await db
    .insertInto('engine_messages')
    .values({
      workflow_type: 'RolloutWorkflow',
      workflow_id: rolloutWorkflowId(rolloutId),
      signal,
      activity_id: null,
      last_error: null,
      next_attempt_at: sql<Date>`now() + make_interval(secs => ${afterMs / 1000})`,
    })
    .execute();
}

/** Signals of `RolloutGroupWorkflow`: the specification's names, and `wake` for what no person ordered (C7a). */
export type GroupSignal = GroupControlSignal | 'wake';

/** Writes "this group must ask again"; delivered like a rollout's (B4). */
export async function wakeGroup(db: Db, groupId: string, signal: GroupSignal = 'wake'): Promise<void> {
  await db
    .insertInto('engine_messages')
    .values({
      workflow_type: 'RolloutGroupWorkflow',
      workflow_id: groupWorkflowId(groupId),
      signal,
      activity_id: null,
      last_error: null,
    })
    .execute();
}

/** Writes "this node's workflow should run": used by retry, which a finished rollout's workflow can't do (C8). */
export async function startNodeUpgrade(db: Db, rolloutId: string, nodeId: string): Promise<void> {
  await db
    .insertInto('engine_messages')
    .values({
      workflow_type: 'UpgradeNodeWorkflow',
      workflow_id: nodeWorkflowId(rolloutId, nodeId),
      signal: 'wake',
      activity_id: null,
      last_error: null,
    })
    .execute();
}

/** Writes "the row that this waiting activity is about has ended"; the relay reads the row and completes it by id (B4a). */
export async function completeActivity(db: Db, workflowId: string, activityId: string): Promise<void> {
  await db
    .insertInto('engine_messages')
    .values({
      workflow_type: 'UpgradeNodeWorkflow',
      workflow_id: workflowId,
      signal: null,
      activity_id: activityId,
      last_error: null,
    })
    .execute();
}
