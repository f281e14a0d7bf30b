import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { activityOf, batchName, progressOf, versionsOf } from '@hoodcloud/contracts/http/view-text';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';
import { renderTable } from '../output/table.ts';

const BAR = 24;
const MOST_NODES = 20;

/** The best height that any node of the rollout reports; null when none does. */
function bestHeight(nodes: readonly RolloutNodeView[]): number | null {
  const heights = nodes.flatMap(({ height }) => (height === null ? [] : [height]));
  return heights.length === 0 ? null : Math.max(...heights);
}

/** The part of the screen that is drawn anew: what, how far, each node, why it waits. */
export function renderFrame(
  rollout: RolloutDetail,
  nodes: readonly RolloutNodeView[],
  now: Date,
  width: number,
): string {
  const height = bestHeight(nodes);
  const lines = [
    `${rollout.binary_name} ${versionsOf(rollout)} · ${rollout.chain_profile_id} · ${rollout.strategy} · ${rollout.status} ${since(rollout, now)}`,
    `${bar(rollout)} ${progressOf(rollout)}${height === null ? '' : ` · chain height ${height}`}`,
    ...renderTable(['node', 'batch', 'status', 'phase', 'height', 'what'], rowsOf(rollout, nodes))
      .trimEnd()
      .split('\n'),
    ...hidden(nodes),
    ...waiting(rollout),
  ];
  return lines.map((line) => clip(line, width)).join('\n');
}

/** The same in one line, for logs and pipes. */
export function renderProgressLine(rollout: RolloutDetail, nodes: readonly RolloutNodeView[]): string {
  const height = bestHeight(nodes);
  const moving = nodes
    .filter(({ status }) => isInFlight(status))
    .map((node) => `${node.node_name} ${node.upgrade_phase ?? node.status}`);
  const parts = [
    `${rollout.status}: ${progressOf(rollout)}`,
    ...(moving.length > 0 ? [moving.slice(0, 5).join(', ')] : []),
    ...(height === null ? [] : [`chain height ${height}`]),
    ...waiting(rollout),
  ];
  return parts.join(' · ');
}

function rowsOf(rollout: RolloutDetail, nodes: readonly RolloutNodeView[]): unknown[][] {
  return shown(nodes).map((node) => [
    node.node_name,
    batchName(rollout, node.batch_index),
    node.status,
    node.upgrade_phase,
    node.height,
    activityOf(node),
  ]);
}

/** Of many nodes those in flight and those that failed come first: they are what people look for. */
function shown(nodes: readonly RolloutNodeView[]): readonly RolloutNodeView[] {
  if (nodes.length <= MOST_NODES) return nodes;
  const rank = (node: RolloutNodeView) =>
    isInFlight(node.status) ? 0 : node.status === 'failed' || node.status === 'rolled_back' ? 1 : 2;
  return [...nodes].sort((left, right) => rank(left) - rank(right)).slice(0, MOST_NODES);
}

function hidden(nodes: readonly RolloutNodeView[]): string[] {
  return nodes.length > MOST_NODES ? [`… and ${nodes.length - MOST_NODES} more: hoodctl rollout nodes`] : [];
}

function waiting(rollout: RolloutDetail): string[] {
  if (rollout.status !== 'running') return [];
  return (rollout.waiting?.reasons ?? []).map(({ sentence }) => sentence);
}

function bar({ total_nodes: total, succeeded_nodes, failed_nodes, skipped_nodes }: RolloutDetail): string {
  const share = total === 0 ? 0 : (succeeded_nodes + failed_nodes + skipped_nodes) / total;
  const full = Math.round(share * BAR);
  return `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
}

function since(rollout: RolloutDetail, now: Date): string {
  return renderDuration(now.getTime() - Date.parse(rollout.started_at ?? rollout.created_at));
}

function clip(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}
