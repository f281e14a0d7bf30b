import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';

/** A result that the workflow has not read after this time is told again. */
const RESULT_UNTAKEN_MS = 60_000;

export interface SweepTimes {
  readonly intervalMs: number;
  /** An attempt that shows no sign of life for so long gets its workflow started again (B4). */
  readonly silentMs: number;
}

export const SWEEP_TIMES: SweepTimes = { intervalMs: 60_000, silentMs: 600_000 };

/**
 * Writes again what the engine may have forgotten (B4): addresses of open rollouts, of results not taken, of attempts
 * that are silent, and of retries that nobody began. So an engine that was lost or restored is told again. An address
 * that waits already is not written twice.
 */
export function engineSweep(db: Database, times: SweepTimes = SWEEP_TIMES): Reconciler {
  return {
    name: 'engine-sweep',
    intervalMs: times.intervalMs,
    wokenBy: null,
    runs: 'leader',
    run: async () => {
      await sweep(db, times.silentMs);
      return 0; // what it wrote is delivered by the relay; it sweeps again in its own time
    },
  };
}

/** @returns how many addresses were written */
export async function sweep(db: Database, silentMs: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into engine_messages (workflow_type, workflow_id, signal, activity_id)
    select workflow_type, workflow_id, signal, activity_id from (
      ${openRollouts()} union ${openGroups()} union ${untakenResults()} union ${silentAttempts(silentMs)} union ${requestedRetries()}
    ) as due
    where not exists (
      select 1 from engine_messages waiting
       where waiting.workflow_id = due.workflow_id and waiting.signal is not distinct from due.signal
         and waiting.activity_id is not distinct from due.activity_id)`.execute(db);
  return Number(numAffectedRows);
}

/** Rollouts that run or are paused, and ended ones with a rollback ordered since. */
function openRollouts() {
  return sql`
    select 'RolloutWorkflow' as workflow_type, 'rollout-' || r.id as workflow_id, 'wake' as signal, null as activity_id
      from rollouts r
     where r.status in ('running', 'paused')
        or (r.status in ('completed', 'failed', 'canceled')
            and exists (select 1 from rollout_controls c
                         where c.rollout_id = r.id and c.kind = 'rollback' and c.created_at > r.status_changed_at))
        or (r.status = 'pending' and exists (select 1 from rollout_controls c
                         where c.rollout_id = r.id and c.kind in ('start', 'cancel')))`;
}

/** Groups that run or are paused; a pending one is told of its cancel by its control. */
function openGroups() {
  return sql`
    select 'RolloutGroupWorkflow', 'rollout-group-' || g.id, 'wake', null from rollout_groups g
     where g.status in ('running', 'paused')
        or (g.status = 'pending' and exists (select 1 from rollout_group_controls c
                         where c.group_id = g.id and c.kind in ('start', 'cancel')))`;
}

/** The result of a confirmation is read where it runs steps of the vendor; otherwise its attempt has ended by then. */
function untakenResults() {
  const since = sql`clock_timestamp() - make_interval(secs => ${RESULT_UNTAKEN_MS / 1000})`;
  const inFlight = sql`exists (select 1 from rollout_nodes n where n.id = t.rollout_node_id and n.status in ('in_progress', 'validating'))`;
  return sql`
    select 'UpgradeNodeWorkflow', t.workflow_id, null, t.id::text from agent_commands t
     where t.ended_at < ${since} and t.result_taken_at is null and t.operation in ('UPGRADE', 'COMPENSATE', 'CONFIRM') and ${inFlight}
    union
    select 'UpgradeNodeWorkflow', t.workflow_id, null, t.id::text from health_validations t
     where t.ended_at < ${since} and t.result_taken_at is null and ${inFlight}`;
}

/** Attempts under way whose rows, command and proof have not moved for so long. */
function silentAttempts(silentMs: number) {
  const since = sql`clock_timestamp() - make_interval(secs => ${silentMs / 1000})`;
  return sql`
    select 'UpgradeNodeWorkflow', 'upgrade-' || n.rollout_id || '-' || n.node_id, 'wake', null from rollout_nodes n
     where n.status in ('in_progress', 'validating') and n.updated_at < ${since}
       and not exists (select 1 from agent_commands c
                        where c.rollout_node_id = n.id
                          and greatest(c.created_at, c.delivered_at, c.progress_at, c.ended_at) > ${since})`;
}

/** The workflow of an ended rollout offers nothing; a retry of one of its nodes stands alone (C8). */
function requestedRetries() {
  return sql`
    select 'UpgradeNodeWorkflow', 'upgrade-' || n.rollout_id || '-' || n.node_id, 'wake', null
      from rollout_nodes n join rollouts r on r.id = n.rollout_id
     where n.requested_attempt > n.attempt_count and n.status in ('failed', 'rolled_back')
       and r.status in ('completed', 'failed', 'rolled_back', 'paused')`;
}
