import type { JoinTokenView, NodeView } from '@hoodcloud/contracts/http/nodes';
import { renderAge } from '@hoodcloud/domain/duration-text';
import { renderPairs, renderTable } from '../output/table.ts';

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
  ]);
  return renderTable(['node', 'chain', 'type', 'state', 'agent', 'height', 'runs', 'heartbeat'], rows);
}

export function renderNode(node: NodeView, now: Date): string {
  const head = renderPairs([
    ['Node', `${node.name} (${node.id})`],
    ['Chain', `${node.chain_profile_id} (${node.node_type})`],
    ['State', node.display_state],
    ['Health', `${node.application_health}, ${node.sync_status}`],
    ['Height', node.height],
    ['Agent', agentOf(node, now)],
    ['Clock', node.clock_skew_ms === null ? undefined : `${node.clock_skew_ms} ms beside the server's`],
    ['Labels', pairsOf(node.labels)],
  ]);
  return node.components.length === 0 ? head : `${head}\n${renderComponents(node)}`;
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
  return renderTable(
    ['component', 'runtime', 'process', 'restarts', 'version', 'known from', 'running checksum'],
    rows,
  );
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
