import type {
  RolloutBatchesView,
  RolloutDetail,
  RolloutNodeView,
  RolloutView,
} from '@hoodcloud/contracts/http/rollout-views';
import {
  batchCountsText,
  batchRangeName,
  nodeBatchName,
  progressOf,
  sentencesOf,
  stagedText,
  versionsOf,
} from '@hoodcloud/contracts/http/view-text';
import { renderAge, renderDuration } from '@hoodcloud/domain/duration-text';
import { weeklyWindowText } from '@hoodcloud/domain/weekly-window-text';
import { renderPairs, renderTable } from '../output/table.ts';
import { whyLines } from '../output/why-lines.ts';

/** One rollout in full, for people. */
export function renderRollout(rollout: RolloutDetail, now: Date): string {
  const canary = rollout.strategy === 'canary' ? `, ${rollout.canary_size} canary` : '';
  const health = `watched for ${renderDuration(rollout.health_wait_ms)} each`;
  const text = renderPairs([
    ['Rollout', rollout.id],
    ['Chain', `${rollout.chain_profile_id} (${rollout.node_type})`],
    ['Upgrade', `${rollout.binary_name} ${versionsOf(rollout)}`],
    ['Strategy', `${rollout.strategy}, ${rollout.batch_size} at a time${canary}, ${health}`],
    ['Starts at', rollout.start_at ?? undefined],
    ['Windows', rollout.windows?.map(weeklyWindowText).join('; ')],
    ['Failed nodes', rollout.retry_failed ? 'offered the version again' : undefined],
    ['Late nodes', rollout.late_nodes === 'include' ? 'taken after all others' : undefined],
    ['State risk', rollout.migration_type],
    ['Status', `${rollout.status} since ${renderAge(rollout.status_changed_at, now)}`.replace(' since -', '')],
    ['Reason', rollout.status_reason?.sentence],
    ['Progress', progressOf(rollout)],
    ['Manifest', manifestOf(rollout)],
    ['Created', `${renderAge(rollout.created_at, now)} by ${rollout.created_by}`],
    ['Possible', rollout.legal_controls.length > 0 ? rollout.legal_controls.join(', ') : undefined],
  ]);
  return text + whyLines(rollout).join('');
}

function manifestOf({ upgrade_id, manifest_drift }: RolloutDetail): string {
  if (upgrade_id === null) return 'none (given by hand)';
  const drift = manifest_drift === 'changed' || manifest_drift === 'missing';
  return drift ? `${upgrade_id} (${manifest_drift} since; the rollout keeps what it stored)` : upgrade_id;
}

export function renderRollouts(rollouts: readonly RolloutView[], now: Date): string {
  const rows = rollouts.map((rollout) => [
    rollout.id,
    rollout.chain_profile_id,
    rollout.binary_name,
    rollout.target_version,
    rollout.strategy,
    rollout.direction === 'rollback' ? `${rollout.status} (rollback)` : rollout.status,
    `${rollout.succeeded_nodes}/${rollout.total_nodes}`,
    rollout.failed_nodes,
    renderAge(rollout.created_at, now),
  ]);
  return renderTable(['id', 'chain', 'binary', 'target', 'strategy', 'status', 'done', 'failed', 'created'], rows);
}

export function renderRolloutNodes(rollout: RolloutView, nodes: readonly RolloutNodeView[]): string {
  const rows = nodes.map((node) => [
    node.node_name,
    nodeBatchName(rollout, node),
    node.status,
    node.upgrade_phase,
    node.attempt_count,
    node.height,
    node.downtime_ms === null ? null : `${node.downtime_ms} ms`,
    sentencesOf(node.why),
  ]);
  const columns = ['node', 'batch', 'status', 'phase', 'attempt', 'height', 'downtime', 'why'];
  if (!rollout.stage) return renderTable(columns, rows);
  const staged = rows.map((row, index) => [...row.slice(0, 3), stagedOf(nodes[index]), ...row.slice(3)]);
  return renderTable([...columns.slice(0, 3), 'ready ahead', ...columns.slice(3)], staged);
}

function stagedOf(node: RolloutNodeView | undefined): string | null {
  return node ? stagedText(node) : null;
}

/** Batch by batch how many nodes have which status. */
export function renderRolloutBatches(rollout: RolloutView, { items }: RolloutBatchesView): string {
  const rows = items.map((range) => [batchRangeName(rollout, range), range.nodes, batchCountsText(range)]);
  return renderTable(['batch', 'nodes', 'status'], rows);
}
