import type { HealthReading } from '@hoodcloud/domain/health-input';
import type { ApplicationHealth, NodeState, SyncStatus } from '@hoodcloud/domain/node-state';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** An open proof of health and all that judging it takes. Times are epoch milliseconds. */
export interface OpenValidation {
  readonly id: string;
  readonly nodeId: string;
  readonly nodeName: string;
  readonly rolloutId: string;
  readonly attemptId: string;
  readonly workflowId: string;
  readonly chainProfileId: string;
  readonly expectedChecksum: string;
  readonly healthWaitMs: number;
  readonly since: number;
  readonly nodeState: NodeState;
  /** The agent's current session; null when it has none. */
  readonly sessionId: string | null;
  readonly bestHeight: number | null;
  readonly heightGrewAt: number | null;
  /** The runtime's count of restarts in the command's result; null when the agent told none. */
  readonly restartsAtStart: number | null;
  readonly readings: readonly HealthReading[];
}

interface StoredReading {
  readonly received_at: number;
  readonly session_id: string;
  readonly active: boolean;
  readonly main_pid: number;
  readonly main_pid_started_at: string;
  readonly restarts: number;
  readonly running_checksum: string;
  readonly judged: {
    readonly application_health?: ApplicationHealth;
    readonly sync_status?: SyncStatus;
    readonly height?: number | null;
    readonly ready?: boolean | null;
  };
}

/**
 * Every open validation with the raw heartbeats of its component since the command's result, in one query (B4a, D2).
 * A heartbeat without the component is no reading of it.
 */
export async function loadOpenValidations(db: Db, limit: number): Promise<OpenValidation[]> {
  const { rows } = await sql<Omit<OpenValidation, 'readings'> & { readings: StoredReading[] | null }>`
    select v.id, v.node_id as "nodeId", n.name as "nodeName", v.rollout_id as "rolloutId",
           v.attempt_id as "attemptId", v.workflow_id as "workflowId", n.chain_profile_id as "chainProfileId",
           v.expected_checksum as "expectedChecksum", v.health_wait_ms as "healthWaitMs",
           extract(epoch from v.since)::float8 * 1000 as since, n.state as "nodeState", s.id as "sessionId",
           c.best_height as "bestHeight", extract(epoch from c.grew_at)::float8 * 1000 as "heightGrewAt",
           (select (a.result ->> 'restarts')::int from agent_commands a
             where a.attempt_id = v.attempt_id and a.operation = 'UPGRADE') as "restartsAtStart", r.readings
      from health_validations v
      join nodes n on n.id = v.node_id
      left join agent_sessions s on s.node_id = v.node_id and s.ended_at is null
      left join chain_heights c on c.chain_profile_id = n.chain_profile_id
      left join lateral (
        select jsonb_agg(jsonb_build_object(
                 'received_at', extract(epoch from h.received_at)::float8 * 1000, 'session_id', h.session_id,
                 'active', part.value -> 'active', 'main_pid', part.value -> 'main_pid',
                 'main_pid_started_at', part.value -> 'main_pid_started_at', 'restarts', part.value -> 'restarts',
                 'running_checksum', part.value -> 'running_checksum', 'judged', h.judged)) as readings
          from node_heartbeats h, jsonb_array_elements(h.components) as part
         where h.node_id = v.node_id and h.received_at > v.since and part.value ->> 'binary_name' = v.binary_name
      ) r on true
     where v.status = 'open'
     order by v.created_at
     limit ${limit}`.execute(db);
  return rows.map((row) => ({ ...row, readings: (row.readings ?? []).map(toReading) }));
}

function toReading(stored: StoredReading): HealthReading {
  const { judged } = stored;
  return {
    receivedAt: stored.received_at,
    sessionId: stored.session_id,
    active: stored.active,
    mainPid: stored.main_pid === 0 ? null : stored.main_pid,
    mainPidStartedAt: stored.main_pid === 0 ? null : Number(stored.main_pid_started_at),
    restarts: stored.restarts,
    runningSha256: stored.running_checksum || null,
    applicationHealth: judged.application_health ?? 'unknown',
    syncStatus: judged.sync_status ?? 'unknown',
    height: judged.height ?? null,
    ready: judged.ready ?? null,
  };
}
