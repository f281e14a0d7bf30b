import type { Page, PageQuery, ReasonView } from '@hoodcloud/contracts/http/common';
import type {
  ComponentProgress,
  RolloutGroupDetail,
  RolloutGroupStatusView,
  RolloutGroupView,
} from '@hoodcloud/contracts/http/rollout-groups';
import { groupControlVerdict } from '@hoodcloud/domain/group-control-verdict';
import type { GroupSnapshot } from '@hoodcloud/domain/group-snapshot';
import { effectiveGroupControls, ROLLOUT_GROUP_CONTROLS } from '@hoodcloud/domain/rollout-group-control';
import type { RolloutGroupStatus } from '@hoodcloud/domain/rollout-group-status';
import { whyGroupWaits } from '@hoodcloud/domain/why/group-why';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { isAfterCursor, toPage } from '../http/page-cursor.ts';
import { reasonView, storedReason, storedReasons } from '../http/reason-view.ts';
import { timestamp, timestampOrNull } from '../http/timestamps.ts';
import { nameNodesIn } from '../rollouts/name-nodes.ts';
import { rolloutView } from '../rollouts/rollout-read-model.ts';
import type { RolloutRow } from '../rollouts/rollout-row.ts';
import type { GroupRow } from './group-row.ts';
import { componentRollouts, loadGroupControls, loadGroupSnapshot } from './load-group-snapshot.ts';
import { type StoredComponent, storedComponents } from './stored-component.ts';

export interface GroupFilter extends PageQuery {
  readonly chain_profile_id?: string | undefined;
  readonly status?: RolloutGroupStatus | undefined;
}

/** One page of groups, newest first. */
export async function listGroups(db: Db, filter: GroupFilter): Promise<Page<RolloutGroupView>> {
  let select = db
    .selectFrom('rollout_groups')
    .selectAll()
    .select(sql<string>`created_at::text`.as('created_at_text'))
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(filter.limit + 1);
  if (filter.chain_profile_id) select = select.where('chain_profile_id', '=', filter.chain_profile_id);
  if (filter.status) select = select.where('status', '=', filter.status);
  if (filter.cursor) select = select.where(isAfterCursor(filter.cursor));
  return toPage(await select.execute(), filter.limit, groupView, (row) => [row.created_at_text, row.id]);
}

/** One group in full; null when there is none. */
export async function findGroup(db: Db, id: string): Promise<RolloutGroupDetail | null> {
  const row = await groupRow(db, id);
  if (!row) return null;
  const rollouts = [...(await componentRollouts(db, id)).values()];
  rollouts.sort((a, b) => a.component_index - b.component_index);
  const snapshot = await loadGroupSnapshot(db, row, Date.now());
  return {
    ...groupView(row),
    why: await whyOf(db, snapshot),
    rollouts: rollouts.map(rolloutView),
    legal_controls: ROLLOUT_GROUP_CONTROLS.filter((kind) => groupControlVerdict(kind, snapshot).legal),
  };
}

/** Its status with the progress of each component; null when there is none. */
export async function findGroupStatus(db: Db, id: string): Promise<RolloutGroupStatusView | null> {
  const row = await groupRow(db, id);
  if (!row) return null;
  const { skips } = effectiveGroupControls(await loadGroupControls(db, id));
  const rollouts = await componentRollouts(db, id);
  const { status, status_reason, direction, failure_policy, waiting } = groupView(row);
  const components = storedComponents(row.component_order).map((component) =>
    progressOf(component, rollouts.get(component.component_index), skips.has(component.component_index)),
  );
  const why = await whyOf(db, await loadGroupSnapshot(db, row, Date.now()));
  return { id, status, status_reason, direction, failure_policy, waiting, why, components };
}

async function whyOf(db: Db, snapshot: GroupSnapshot): Promise<ReasonView[]> {
  return (await nameNodesIn(db, whyGroupWaits(snapshot, Date.now()))).map(reasonView);
}

/** Whether there is such a group. */
export async function groupExists(db: Db, id: string): Promise<boolean> {
  return (await groupRow(db, id)) !== undefined;
}

function groupRow(db: Db, id: string): Promise<GroupRow | undefined> {
  return db.selectFrom('rollout_groups').selectAll().where('id', '=', id).executeTakeFirst();
}

function componentView({ component_index, binary_name, draft }: StoredComponent) {
  const { request, upgrade } = draft;
  return {
    component_index,
    binary_name,
    upgrade_id: request.upgrade_id ?? null,
    source_version: request.source_version ?? null,
    target_version: upgrade.target_version ?? '',
    strategy: request.strategy,
  };
}

function progressOf(component: StoredComponent, row: RolloutRow | undefined, skipped: boolean): ComponentProgress {
  return {
    ...componentView(component),
    rollout_id: row?.id ?? null,
    status: row?.status ?? null,
    status_reason: row ? storedReason(row.status_reason, row.status_reason_params) : null,
    direction: row?.direction ?? 'upgrade',
    skipped,
    total_nodes: row?.total_nodes ?? 0,
    succeeded_nodes: row?.succeeded_nodes ?? 0,
    failed_nodes: row?.failed_nodes ?? 0,
    pending_nodes: row?.pending_nodes ?? 0,
    skipped_nodes: row?.skipped_nodes ?? 0,
  };
}

function groupView(row: GroupRow): RolloutGroupView {
  return {
    id: row.id,
    chain_profile_id: row.chain_profile_id,
    node_type: row.node_type,
    status: row.status,
    status_reason: storedReason(row.status_reason, row.status_reason_params),
    status_changed_at: timestamp(row.status_changed_at),
    direction: row.direction,
    failure_policy: row.failure_policy,
    component_order: storedComponents(row.component_order).map(componentView),
    desired_versions: row.desired_versions as Record<string, string>,
    strategy: row.strategy,
    gate_timeout_ms: row.gate_timeout_ms,
    waiting: waiting(row.last_decision),
    created_by: row.created_by,
    created_at: timestamp(row.created_at),
    started_at: timestampOrNull(row.started_at),
    ended_at: timestampOrNull(row.ended_at),
  };
}

/** `rollout_groups.last_decision` as `group-progress` writes it. */
function waiting(column: unknown): RolloutGroupView['waiting'] {
  const decision = column as {
    kind: NonNullable<RolloutGroupView['waiting']>['kind'];
    until?: string | null;
    reasons?: unknown;
  } | null;
  if (decision === null) return null;
  return { kind: decision.kind, until: decision.until ?? null, reasons: storedReasons(decision.reasons) };
}
