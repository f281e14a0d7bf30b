import { holdText } from '@hoodcloud/contracts/http/node-holds';
import type { JoinTokenView, NodeDetail, NodeView } from '@hoodcloud/contracts/http/nodes';
import { renderAge } from '@hoodcloud/domain/duration-text';
import { renderPairs, renderTable } from '../output/table.ts';
import { whyLines } from '../output/why-lines.ts';

export function renderNodes(nodes: readonly NodeView[], now: Date): string {
  const rows = nodes.map((node) => [
    node.name,
    node.chain_profile_id,
    node.node_type,
    node.display_state,
    node.quarantined_at ? 'quarantined' : node.online ? 'online' : 'offline',
    node.height,
    node.components.map((part) => `${part.binary_name} ${part.binary_version ?? 'unknown'}`).join(', '),
    renderAge(node.last_heartbeat_at, now),
    node.holds.map(({ kind, version }) => (kind === 'hold' ? 'held' : `pinned to ${version}`)).join(', '),
  ]);
  return renderTable(['node', 'chain', 'type', 'state', 'agent', 'height', 'runs', 'heartbeat', 'kept'], rows);
}

export function renderNode(node: NodeView & Partial<Pick<NodeDetail, 'why'>>, now: Date): string {
  const head = renderPairs([
    ['Node', `${node.name} (${node.id})`],
    ['Chain', `${node.chain_profile_id} (${node.node_type})`],
    ['State', node.display_state],
    ['Health', `${node.application_health}, ${node.sync_status}`],
    ['Height', node.height],
    ['Agent', agentOf(node, now)],
    ['Clock', node.clock_skew_ms === null ? undefined : `${node.clock_skew_ms} ms beside the server's`],
    ['Labels', pairsOf(node.labels)],
    ...(node.holds ?? []).map((hold) => ['Kept', holdText(hold)] as const),
  ]);
  const why = node.why ? renderWhy({ why: node.why }) : '';
  return node.components.length === 0 ? head + why : `${head}${why}\n${renderComponents(node)}`;
}

/** Why it waits, and what to do about it. */
export function renderWhy({ why }: Pick<NodeDetail, 'why'>): string {
  return whyLines({ why }).join('');
}

function agentOf(node: NodeView, now: Date): string {
  if (node.quarantined_at) return `quarantined ${renderAge(node.quarantined_at, now)}: two hosts claim to be this node`;
  if (!node.joined_at) return `has never joined. Next: hoodctl node join-token ${node.name}`;
  return `${node.online ? 'online' : 'offline'}, last heartbeat ${renderAge(node.last_heartbeat_at, now)}`;
}

function renderComponents({ components }: NodeView): string {
  const rows = components.map((part) => [
    part.binary_name,
    part.runtime_type,
    part.active ? `running (pid ${part.main_pid ?? '?'})` : 'stopped',
    part.restarts,
    part.binary_version ?? 'unknown',
    part.version_source,
    part.running_checksum,
  ]);
  const table = renderTable(
    ['component', 'runtime', 'process', 'restarts', 'version', 'known from', 'running checksum'],
    rows,
  );
  const drifted = components.flatMap(({ configs = [] }) => configs.filter(({ state }) => state !== 'as_written'));
  return table + drifted.map(({ path, state }) => `! ${path} is ${state}: not as the last rollout wrote it\n`).join('');
}

export function renderJoinToken({ join_token, expires_at }: JoinTokenView): string {
  return [
    `Token    ${join_token}`,
    `Expires  ${expires_at}`,
    'It is shown this once and works once. On the host:',
    `  hoodcloud-agent join --token ${join_token}`,
    '',
  ].join('\n');
}

function pairsOf(labels: Readonly<Record<string, string>>): string | undefined {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? undefined : pairs.join(', ');
}
