import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { FleetSummary, NodeUpgradeView } from '@hoodcloud/contracts/http/nodes';
import { renderAge, renderDuration } from '@hoodcloud/domain/duration-text';
import { allPages } from '../api/all-pages.ts';
import { resolveNodeId } from '../api/resolve-id.ts';
import type { CommandIo } from '../command-io.ts';
import { renderTable } from '../output/table.ts';

/** `hoodctl node history NODE` */
export async function nodeHistory(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const items = await allPages<NodeUpgradeView>(api, PATHS.nodeUpgrades(await resolveNodeId(api, given)));
  io.answer(items, (upgrades) => renderUpgrades(upgrades, io.context.now()));
  if (items.length === 0) io.remark('No rollout has touched it.');
}

/** `hoodctl node summary` */
export async function nodeSummary(
  io: CommandIo,
  _: readonly string[],
  { chain }: { readonly chain?: string },
): Promise<void> {
  const summary = await (await io.api()).get<FleetSummary>(PATHS.fleetSummary, { chain_profile_id: chain });
  io.answer(summary, renderSummary);
}

function renderUpgrades(upgrades: readonly NodeUpgradeView[], now: Date): string {
  const rows = upgrades.map((one) => [
    renderAge(one.started_at, now),
    `${one.binary_name} ${one.from_version ?? '?'} → ${one.to_version}`,
    one.direction,
    one.status,
    one.attempts,
    one.duration_ms === null ? undefined : renderDuration(one.duration_ms),
    one.error_message ?? one.reason?.sentence,
    one.rollout_id,
  ]);
  return renderTable(['when', 'what', 'direction', 'status', 'attempts', 'took', 'why', 'rollout'], rows);
}

function renderSummary({ chains, states, zones, versions }: FleetSummary): string {
  return [
    renderTable(
      ['chain', 'nodes', 'online'],
      chains.map((one) => [one.chain_profile_id, one.nodes, one.online]),
    ),
    renderTable(
      ['state', 'nodes'],
      states.map(({ state, nodes }) => [state, nodes]),
    ),
    renderTable(
      ['zone', 'nodes', 'online'],
      zones.map(({ zone, nodes, online }) => [zone, nodes, online]),
    ),
    renderTable(
      ['chain', 'binary', 'version', 'nodes'],
      versions.map((one) => [one.chain_profile_id, one.binary_name, one.version ?? 'unknown', one.nodes]),
    ),
  ].join('\n');
}
