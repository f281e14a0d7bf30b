import type { RolloutControl } from '@hoodcloud/domain/rollout-control';
import type {
  ChainFacts,
  FleetNodeFacts,
  RolloutFacts,
  RolloutNodeFacts,
  RolloutSnapshot,
} from '@hoodcloud/domain/rollout-snapshot';
import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RolloutControlsTable, RolloutNodesTable, RolloutsTable } from '../db/generated/tables.ts';
import { isOnline } from '../nodes/liveness.ts';

/** What the snapshot needs to know of a chain's files. */
export interface ChainLimits {
  /** `health.max_block_interval_seconds` of the profile in milliseconds; null when the chain has none (D4a). */
  maxBlockIntervalMs(chainProfileId: string): Promise<number | null>;
}

/**
 * Everything that `decideNext` and `controlVerdict` may know of a rollout (C7a). Load it in a transaction when what is
 * decided is written there.
 * @returns null when there is no such rollout
 */
export async function loadRolloutSnapshot(
  db: Db,
  rolloutId: string,
  chains: ChainLimits,
  now: Date,
): Promise<RolloutSnapshot | null> {
  const rollout = await db
    .selectFrom('rollouts as r')
    .leftJoin('rollout_groups as g', 'g.id', 'r.group_id')
    .selectAll('r')
    .select('g.failure_policy')
    .where('r.id', '=', rolloutId)
    .executeTakeFirst();
  if (!rollout) return null;
  const nodes = await db
    .selectFrom('rollout_nodes')
    .selectAll()
    .where('rollout_id', '=', rolloutId)
    .orderBy('batch_index')
    .orderBy('node_id')
    .execute();
  return {
    rollout: { ...rolloutFacts(rollout), groupFailurePolicy: rollout.failure_policy },
    nodes: nodes.map(nodeFacts),
    controls: await loadControls(db, rolloutId),
    chain: await loadChain(db, rollout.chain_profile_id, chains),
    fleet: await loadFleet(db, rolloutId, now),
  };
}

/** All controls of a rollout, oldest first. */
export async function loadControls(db: Db, rolloutId: string): Promise<RolloutControl[]> {
  const rows = await db
    .selectFrom('rollout_controls')
    .selectAll()
    .where('rollout_id', '=', rolloutId)
    .orderBy('seq')
    .execute();
  return rows.map((row: Selectable<RolloutControlsTable>) => ({
    id: row.id,
    kind: row.kind,
    actor: row.actor,
    reason: row.reason,
    createdAt: row.created_at.getTime(),
    nodeId: row.node_id,
    failuresAcknowledged: row.failures_acknowledged,
  }));
}

async function loadChain(db: Db, chainProfileId: string, chains: ChainLimits): Promise<ChainFacts> {
  const heights = await db
    .selectFrom('chain_heights')
    .select(['best_height', 'grew_at'])
    .where('chain_profile_id', '=', chainProfileId)
    .executeTakeFirst();
  return {
    chainProfileId,
    bestHeight: heights?.best_height ?? null,
    heightGrewAt: heights?.grew_at.getTime() ?? null,
    maxBlockIntervalMs: await chains.maxBlockIntervalMs(chainProfileId),
  };
}

async function loadFleet(db: Db, rolloutId: string, now: Date): Promise<Map<string, FleetNodeFacts>> {
  const rows = await db
    .selectFrom('rollout_nodes as mine')
    .innerJoin('nodes', 'nodes.id', 'mine.node_id')
    .leftJoin('rollout_nodes as other', (join) =>
      join
        .onRef('other.node_id', '=', 'mine.node_id')
        .onRef('other.rollout_id', '<>', 'mine.rollout_id')
        .on('other.status', 'in', ['in_progress', 'validating']),
    )
    .select(['nodes.id', 'nodes.state', 'nodes.last_heartbeat_at', 'nodes.quarantined_at', 'other.rollout_id as busy'])
    .where('mine.rollout_id', '=', rolloutId)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        nodeId: row.id,
        state: row.state,
        online: isOnline(row.last_heartbeat_at, now),
        lastHeartbeatAt: row.last_heartbeat_at?.getTime() ?? null,
        quarantined: row.quarantined_at !== null,
        busyWithRolloutId: row.busy,
      },
    ]),
  );
}

export function rolloutFacts(row: Selectable<RolloutsTable>): RolloutFacts {
  return {
    id: row.id,
    status: row.status,
    statusReason: row.status_reason,
    statusChangedAt: row.status_changed_at.getTime(),
    direction: row.direction,
    strategy: row.strategy,
    batchSize: row.batch_size,
    canarySize: row.canary_size,
    failureThreshold: row.failure_threshold,
    maxFailures: row.max_failures,
    minAttempted: row.min_attempted,
    maxInFlight: row.max_in_flight,
    healthWaitMs: row.health_wait_ms,
    forceContinue: row.force_continue,
    migrationType: row.migration_type,
    approvalBarredFor: row.two_person_approval ? row.created_by : null,
    offlinePolicy: row.offline_policy,
    targetsResolved: row.targets_resolved_at !== null,
  };
}

export function nodeFacts(row: Selectable<RolloutNodesTable>): RolloutNodeFacts {
  return {
    nodeId: row.node_id,
    batchIndex: row.batch_index,
    status: row.status,
    statusReason: row.status_reason,
    phase: row.upgrade_phase,
    attemptCount: row.attempt_count,
    requestedAttempt: row.requested_attempt,
    attemptDirection: row.attempt_direction,
    offeredAt: row.offered_at?.getTime() ?? null,
    startedAt: row.started_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
    durationMs: row.duration_ms,
  };
}
