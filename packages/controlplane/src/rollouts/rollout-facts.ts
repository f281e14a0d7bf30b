import { type FailureClassLimits, failureClassOf } from '@hoodcloud/domain/failure-class';
import type { RolloutFacts, RolloutNodeFacts } from '@hoodcloud/domain/rollout-snapshot';
import type { WeeklyWindow } from '@hoodcloud/domain/weekly-window';
import type { Selectable } from 'kysely';
import type { RolloutNodesTable, RolloutsTable } from '../db/generated/tables.ts';

/** What a decision knows of a row; logs, hashes and targets stay in the database. */
export const NODE_FACTS = [
  'node_id',
  'batch_index',
  'status',
  'status_reason',
  'error_code',
  'upgrade_phase',
  'attempt_count',
  'requested_attempt',
  'attempt_direction',
  'offered_at',
  'started_at',
  'ended_at',
  'duration_ms',
  'stage_state',
] as const satisfies readonly (keyof RolloutNodesTable)[];
type NodeFactsRow = Pick<Selectable<RolloutNodesTable>, (typeof NODE_FACTS)[number]>;

/** A rollout's row as a decision knows it. */
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
    failureClasses: row.failure_classes as FailureClassLimits | null,
    healthWaitMs: row.health_wait_ms,
    forceContinue: row.force_continue,
    migrationType: row.migration_type,
    approvalBarredFor: row.two_person_approval ? row.created_by : null,
    offlinePolicy: row.offline_policy,
    lateNodes: row.late_nodes,
    startAtHeight: row.start_at_height,
    startAt: row.start_at?.getTime() ?? null,
    windows: row.windows as readonly WeeklyWindow[] | null,
    stage: row.stage,
    activation: row.activation,
    targetsResolved: row.targets_resolved_at !== null,
  };
}

/** A node's row in a rollout as a decision knows it. */
export function nodeFacts(row: NodeFactsRow): RolloutNodeFacts {
  return {
    nodeId: row.node_id,
    batchIndex: row.batch_index,
    status: row.status,
    statusReason: row.status_reason,
    failureClass: failureClassOf(row.status_reason, row.error_code),
    phase: row.upgrade_phase,
    attemptCount: row.attempt_count,
    requestedAttempt: row.requested_attempt,
    attemptDirection: row.attempt_direction,
    offeredAt: row.offered_at?.getTime() ?? null,
    startedAt: row.started_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
    durationMs: row.duration_ms,
    stageState: row.stage_state,
  };
}
