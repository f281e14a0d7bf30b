import { bareSha256 } from '@hoodcloud/domain/checksum';
import { type EffectiveControls, effectiveControls } from '@hoodcloud/domain/effective-controls';
import type {
  ComponentRolloutFacts,
  GateNodeFacts,
  GroupComponentFacts,
  GroupSnapshot,
} from '@hoodcloud/domain/group-snapshot';
import type { RolloutGroupControl } from '@hoodcloud/domain/rollout-group-control';
import { isEndedRollout } from '@hoodcloud/domain/rollout-status';
import type { Db } from '../db/database.ts';
import { storedReason } from '../http/reason-view.ts';
import { isOnline } from '../nodes/liveness.ts';
import { loadControls } from '../rollouts/load-rollout-snapshot.ts';
import { newerRolloutOf } from '../rollouts/newer-rollouts.ts';
import type { RolloutRow } from '../rollouts/rollout-row.ts';
import type { GroupRow } from './group-row.ts';
import { storedComponents } from './stored-component.ts';

/**
 * Everything that `decideGroup` and `groupControlVerdict` may know of a group (C7a). Load it in a transaction when what is
 * decided is written there.
 * @param now epoch milliseconds
 */
export async function loadGroupSnapshot(db: Db, group: GroupRow, now: number): Promise<GroupSnapshot> {
  return {
    group: {
      id: group.id,
      status: group.status,
      statusReason: storedReason(group.status_reason, group.status_reason_params),
      statusChangedAt: group.status_changed_at.getTime(),
      direction: group.direction,
      rollbackBeganAt: group.rollback_began_at?.getTime() ?? null,
      failurePolicy: group.failure_policy,
      gateTimeoutMs: group.gate_timeout_ms,
    },
    components: await loadComponents(db, group, now),
    controls: await loadGroupControls(db, group.id),
  };
}

/** The rollouts of a group's components that have begun, by component index. */
export async function componentRollouts(db: Db, groupId: string): Promise<Map<number, RolloutRow>> {
  const rows = await db.selectFrom('rollouts').selectAll().where('group_id', '=', groupId).execute();
  return new Map(rows.map((row) => [row.component_index, row]));
}

async function loadComponents(db: Db, group: GroupRow, now: number): Promise<GroupComponentFacts[]> {
  const rollouts = await componentRollouts(db, group.id);
  // The gate looks at the component before the one that has not begun.
  const last = Math.max(...rollouts.keys());
  const components: GroupComponentFacts[] = [];
  for (const { component_index: index, binary_name: binaryName } of storedComponents(group.component_order)) {
    const row = rollouts.get(index);
    const gateNodes = row && index === last && row.status === 'completed' ? await loadGateNodes(db, row, now) : [];
    components.push({ index, binaryName, rollout: row ? await rolloutFacts(db, row) : null, gateNodes });
  }
  return components;
}

async function rolloutFacts(db: Db, row: RolloutRow): Promise<ComponentRolloutFacts> {
  const controls = effectiveControls(await loadControls(db, row.id));
  const statusChangedAt = row.status_changed_at.getTime();
  const ended = isEndedRollout(row.status);
  return {
    id: row.id,
    status: row.status,
    why: storedReason(row.status_reason, row.status_reason_params)?.sentence ?? row.status,
    statusChangedAt,
    direction: row.direction,
    succeededNodes: row.succeeded_nodes,
    pauseOrderedAt: row.status === 'running' ? (controls.pause?.createdAt ?? null) : null,
    resumeOrdered: row.status === 'paused' && (controls.resume?.createdAt ?? 0) >= statusChangedAt,
    cancelOrdered: !ended && controls.cancel !== null,
    rollbackOrdered: isRollbackDue(row, controls),
    newerRolloutId: await newerRolloutOf(db, row.id),
  };
}

/** The same rule by which `decideNext` begins a rollback. */
function isRollbackDue(row: RolloutRow, { rollback }: EffectiveControls): boolean {
  if (rollback === null) return false;
  if (row.direction === 'upgrade') return true;
  return isEndedRollout(row.status) && rollback.createdAt > row.status_changed_at.getTime();
}

/** The nodes that the component upgraded, as their last heartbeats show them. */
async function loadGateNodes(db: Db, rollout: RolloutRow, now: number): Promise<GateNodeFacts[]> {
  const rows = await db
    .selectFrom('rollout_nodes as r')
    .innerJoin('nodes as n', 'n.id', 'r.node_id')
    .leftJoin('node_components as c', (join) =>
      join.onRef('c.node_id', '=', 'n.id').on('c.binary_name', '=', rollout.binary_name),
    )
    .select(['n.id', 'n.state', 'n.last_heartbeat_at', 'n.quarantined_at', 'r.left_stopped', 'c.active'])
    .select(['r.running_checksum as wanted', 'c.running_checksum as running'])
    .where('r.rollout_id', '=', rollout.id)
    .where('r.status', '=', 'succeeded')
    .orderBy('n.name')
    .execute();
  return rows.map((row) => ({
    nodeId: row.id,
    state: row.state,
    online: isOnline(row.last_heartbeat_at, new Date(now)),
    lastHeartbeatAt: row.last_heartbeat_at?.getTime() ?? null,
    quarantined: row.quarantined_at !== null,
    runsTarget: row.active === true && sameDigest(row.running, row.wanted),
    leftStopped: row.left_stopped,
  }));
}

function sameDigest(running: string | null, wanted: string | null): boolean {
  return running !== null && wanted !== null && bareSha256(running) === bareSha256(wanted);
}

/** All controls of a group, oldest first. */
export async function loadGroupControls(db: Db, groupId: string): Promise<RolloutGroupControl[]> {
  const rows = await db
    .selectFrom('rollout_group_controls')
    .selectAll()
    .where('group_id', '=', groupId)
    .orderBy('seq')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    actor: row.actor,
    reason: row.reason,
    createdAt: row.created_at.getTime(),
    componentIndex: row.component_index,
  }));
}
