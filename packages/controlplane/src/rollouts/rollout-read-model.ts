import type { Page, PageQuery } from '@hoodcloud/contracts/http/common';
import type { RolloutDetail, RolloutView } from '@hoodcloud/contracts/http/rollout-views';
import { controlFacts, controlVerdict } from '@hoodcloud/domain/control-verdict';
import { isForced } from '@hoodcloud/domain/decision-context';
import { effectiveControls } from '@hoodcloud/domain/effective-controls';
import { judgedFailures } from '@hoodcloud/domain/failure-threshold';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';
import { ROLLOUT_CONTROLS, type RolloutControlKind } from '@hoodcloud/domain/rollout-control';
import type { RolloutSnapshot } from '@hoodcloud/domain/rollout-snapshot';
import type { RolloutStatus } from '@hoodcloud/domain/rollout-status';
import { whyRolloutWaits } from '@hoodcloud/domain/why/rollout-why';
import { type Selectable, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RolloutsTable } from '../db/generated/tables.ts';
import { isAfterCursor, toPage } from '../http/page-cursor.ts';
import { reasonView, storedReason, storedReasons } from '../http/reason-view.ts';
import { timestamp, timestampOrNull } from '../http/timestamps.ts';
import type { ManifestReader } from '../manifests/manifest-reader.ts';
import { storedBatchOrder } from './batch-order-of.ts';
import { type ChainLimits, DECISION, loadRolloutSnapshot } from './load-rollout-snapshot.ts';
import { nameNodesIn } from './name-nodes.ts';
import { newerRolloutOf } from './newer-rollouts.ts';

export interface RolloutFilter extends PageQuery {
  readonly chain_profile_id?: string | undefined;
  readonly status?: RolloutStatus | undefined;
}

export interface RolloutReadSources {
  readonly chains: ChainLimits;
  readonly manifests: Pick<ManifestReader, 'contentHash'>;
}

/** One page of rollouts, newest first. */
export async function listRollouts(db: Db, filter: RolloutFilter): Promise<Page<RolloutView>> {
  let select = db
    .selectFrom('rollouts')
    .selectAll()
    .select(sql<string>`created_at::text`.as('created_at_text'))
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(filter.limit + 1);
  if (filter.chain_profile_id) select = select.where('chain_profile_id', '=', filter.chain_profile_id);
  if (filter.status) select = select.where('status', '=', filter.status);
  if (filter.cursor) select = select.where(isAfterCursor(filter.cursor));
  return toPage(await select.execute(), filter.limit, rolloutView, (row) => [row.created_at_text, row.id]);
}

/** Whether there is such a rollout. */
export async function rolloutExists(db: Db, id: string): Promise<boolean> {
  return (await db.selectFrom('rollouts').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}

/** One rollout in full; null when there is none. */
export async function findRollout(db: Db, sources: RolloutReadSources, id: string): Promise<RolloutDetail | null> {
  const row = await db.selectFrom('rollouts').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) return null;
  const now = new Date();
  const snapshot = await loadRolloutSnapshot(db, id, sources.chains, now, DECISION);
  if (!snapshot) return null;
  const newer = { rollout: await newerRolloutOf(db, id), node: null };
  const controls = effectiveControls(snapshot.controls);
  const failures = judgedFailures(snapshot.nodes, snapshot.rollout, controls.resume);
  const told = storedReason(row.status_reason, row.status_reason_params);
  const why = await nameNodesIn(db, whyRolloutWaits(snapshot, told, now.getTime()).reasons);
  return {
    ...rolloutView(row),
    why: why.map(reasonView),
    in_flight_nodes: snapshot.nodes.filter(({ status }) => isInFlight(status)).length,
    attempted_nodes: failures.attempted,
    counted_failures: failures.failed,
    threshold_ignored: isForced({ snapshot, controls }),
    legal_controls: ROLLOUT_CONTROLS.filter((kind) => isLegal(kind, snapshot, newer)),
    manifest_drift: await manifestDrift(sources, row),
  };
}

/** Whether a person may order it now; `retry` and `skip` when there is a node for them. */
function isLegal(
  kind: RolloutControlKind,
  snapshot: RolloutSnapshot,
  newer: { readonly rollout: string | null; readonly node: string | null },
): boolean {
  const wanted: Partial<Record<RolloutControlKind, readonly string[]>> = {
    retry: ['failed', 'rolled_back'],
    skip: ['pending'],
  };
  const statuses = wanted[kind];
  const node = statuses && snapshot.nodes.find(({ status }) => statuses.includes(status));
  if (statuses && !node) return false;
  return controlVerdict(kind, controlFacts(snapshot, newer, node?.nodeId ?? null)).legal;
}

async function manifestDrift(
  { manifests }: RolloutReadSources,
  row: Selectable<RolloutsTable>,
): Promise<RolloutDetail['manifest_drift']> {
  if (row.upgrade_id === null) return null;
  const now = await manifests.contentHash(row.chain_profile_id, row.upgrade_id);
  if (now === null) return 'missing';
  return now === row.manifest_content_hash ? 'unchanged' : 'changed';
}

/** A rollout's row as the API shows it. */
export function rolloutView(row: Selectable<RolloutsTable>): RolloutView {
  return {
    id: row.id,
    name: row.name,
    group_id: row.group_id,
    component_index: row.component_index,
    chain_profile_id: row.chain_profile_id,
    node_type: row.node_type,
    upgrade_id: row.upgrade_id,
    binary_name: row.binary_name,
    source_version: row.source_version,
    target_version: row.target_version,
    artifact_kind: row.artifact_kind,
    target_binary_url: row.target_binary_url,
    target_binary_checksum: row.target_binary_checksum,
    artifacts: (row.artifacts ?? null) as RolloutView['artifacts'],
    strategy: row.strategy,
    batch_size: row.batch_size,
    canary_size: row.canary_size,
    batch_order: storedBatchOrder(row.batch_order),
    failure_classes: row.failure_classes as RolloutView['failure_classes'],
    failure_threshold: row.failure_threshold,
    max_failures: row.max_failures,
    min_attempted: row.min_attempted,
    max_in_flight: row.max_in_flight,
    health_wait_ms: row.health_wait_ms,
    force_continue: row.force_continue,
    skip_validation: row.skip_validation,
    offline_policy: row.offline_policy,
    retry_failed: row.retry_failed,
    late_nodes: row.late_nodes,
    start_at_height: row.start_at_height,
    start_at: timestampOrNull(row.start_at),
    windows: row.windows as RolloutView['windows'],
    stage: row.stage,
    activation: row.activation,
    drift_policy: row.drift_policy,
    migration_type: row.migration_type,
    recovery_plan: row.recovery_plan,
    acknowledge_state_risk: row.acknowledge_state_risk,
    two_person_approval: row.two_person_approval,
    start_approval: row.start_approval,
    manifest_content_hash: row.manifest_content_hash,
    status: row.status,
    status_reason: storedReason(row.status_reason, row.status_reason_params),
    status_changed_at: timestamp(row.status_changed_at),
    direction: row.direction,
    total_nodes: row.total_nodes,
    succeeded_nodes: row.succeeded_nodes,
    failed_nodes: row.failed_nodes,
    pending_nodes: row.pending_nodes,
    skipped_nodes: row.skipped_nodes,
    waiting: waiting(row.last_decision),
    created_by: row.created_by,
    created_at: timestamp(row.created_at),
    started_at: timestampOrNull(row.started_at),
    ended_at: timestampOrNull(row.ended_at),
  };
}

/** `rollouts.last_decision` as `rollout-progress` writes it. */
function waiting(column: unknown): RolloutView['waiting'] {
  const decision = column as {
    kind: NonNullable<RolloutView['waiting']>['kind'];
    until?: string | null;
    reasons?: unknown;
  } | null;
  if (decision === null) return null;
  return { kind: decision.kind, until: decision.until ?? null, reasons: storedReasons(decision.reasons) };
}
