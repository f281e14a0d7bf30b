import { ActivityNotFoundError, type Client } from '@temporalio/client';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';

/** A third of the heartbeat timeout of `ProfileUpgradeDefault` (B4a). */
const EVERY_MS = 10_000;
const AT_ONCE = 25;

/** What the engine's UI shows of a waiting activity (spec "Monitoring Progress"). */
interface HeartbeatDetails {
  readonly action_index: number | null;
  readonly action_name: string | null;
  readonly progress_pct: number | null;
}

interface OpenActivity {
  readonly workflowId: string;
  readonly activityId: string;
  readonly details: HeartbeatDetails | null;
}

/**
 * Heartbeats the activities that wait, from their rows (B4a): also on behalf of agents that are silent, until the
 * command's own deadline has passed (B5a).
 */
export function activityHeartbeats(db: Database, client: Client): Reconciler {
  return {
    name: 'activity-heartbeats',
    intervalMs: EVERY_MS,
    wokenBy: null,
    runs: 'leader',
    run: async () => {
      const open = [...(await openCommands(db)), ...(await openValidations(db))];
      for (let start = 0; start < open.length; start += AT_ONCE) {
        await Promise.all(open.slice(start, start + AT_ONCE).map((activity) => heartbeat(client, activity)));
      }
      return 0; // never more work at once: the next beat is due in a third of the time-out
    },
  };
}

async function openCommands(db: Database): Promise<OpenActivity[]> {
  const rows = await db
    .updateTable('agent_commands')
    .set({ heartbeat_forwarded_at: sql<Date>`clock_timestamp()` })
    .where('status', 'in', ['pending', 'delivered', 'acknowledged'])
    // a confirmation that is waited for is of an attempt that has not ended
    .where((eb) =>
      eb.or([
        eb('operation', 'in', ['UPGRADE', 'COMPENSATE']),
        eb.and([
          eb('operation', '=', 'CONFIRM'),
          eb('rollout_node_id', 'in', eb.selectFrom('rollout_nodes').select('id').where('status', '=', 'validating')),
        ]),
      ]),
    )
    .where('deadline_at', '>', sql<Date>`clock_timestamp()`)
    .returning(['id', 'workflow_id', 'action_index', 'action_name', 'progress_pct'])
    .execute();
  return rows.map(({ id, workflow_id, ...details }) => ({ workflowId: workflow_id, activityId: id, details }));
}

async function openValidations(db: Database): Promise<OpenActivity[]> {
  const rows = await db
    .selectFrom('health_validations')
    .select(['id', 'workflow_id'])
    .where('status', '=', 'open')
    .execute();
  return rows.map(({ id, workflow_id }) => ({ workflowId: workflow_id, activityId: id, details: null }));
}

async function heartbeat(client: Client, { workflowId, activityId, details }: OpenActivity): Promise<void> {
  try {
    await client.activity.heartbeat({ workflowId, activityId }, details);
  } catch (error) {
    // Not started yet, or its workflow is gone: nothing to keep alive.
    if (!(error instanceof ActivityNotFoundError)) throw error;
  }
}
