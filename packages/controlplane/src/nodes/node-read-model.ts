import type { Page } from '@hoodcloud/contracts/http/common';
import type { NodeListQuery, NodeView } from '@hoodcloud/contracts/http/nodes';
import { displayState } from '@hoodcloud/domain/node-health';
import { ZONE_LABEL } from '@hoodcloud/domain/plan-share';
import { type Selectable, sql } from 'kysely';
import { containsText } from '../db/contains-text.ts';
import type { Db } from '../db/database.ts';
import type { NodeComponentsTable, NodeConfigStateTable, NodesTable } from '../db/generated/tables.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { timestamp, timestampOrNull } from '../http/timestamps.ts';
import { isOnline, OFFLINE_AFTER_MS } from './liveness.ts';
import { holdViews } from './node-holds.ts';

/** One page of nodes in the order of their names. */
export async function listNodes(db: Db, filter: NodeListQuery): Promise<Page<NodeView>> {
  let select = db
    .selectFrom('nodes')
    .selectAll()
    .orderBy('name')
    .limit(filter.limit + 1);
  if (filter.cursor) select = select.where('name', '>', String(decodeCursor(filter.cursor, ['text'])[0]));
  if (filter.chain_profile_id) select = select.where('chain_profile_id', '=', filter.chain_profile_id);
  if (filter.node_type) select = select.where('node_type', '=', filter.node_type);
  if (filter.state) select = select.where('state', '=', filter.state);
  if (filter.node_id) select = select.where('id', 'in', filter.node_id);
  if (filter.name) select = select.where(containsText('name', filter.name));
  if (filter.zone) select = select.where(sql<boolean>`labels->>${ZONE_LABEL} = ${filter.zone}`);
  if (filter.version) select = select.where(runsVersion(filter.version));
  const now = new Date();
  if (filter.online) select = select.where(onlineAt(now), '=', filter.online === 'true');
  const rows = await select.execute();
  const ids = rows.map(({ id }) => id);
  const components = await componentsOf(db, ids);
  const holds = await holdViews(db, ids, now);
  return toPage(
    rows,
    filter.limit,
    (row) => ({ ...nodeView(row, components.get(row.id) ?? [], now), holds: holds.get(row.id) ?? [] }),
    (row) => [row.name],
  );
}

function runsVersion(version: string) {
  return sql<boolean>`exists (select from node_config_state s where s.node_id = nodes.id and s.binary_version = ${version})`;
}

/** `isOnline` for the database; a node that never sent a heartbeat is offline. */
function onlineAt(now: Date) {
  return sql<boolean>`coalesce(last_heartbeat_at > ${new Date(now.getTime() - OFFLINE_AFTER_MS)}, false)`;
}

/** One node; null when there is none. */
export async function findNode(db: Db, id: string): Promise<NodeView | null> {
  const row = await db.selectFrom('nodes').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) return null;
  const now = new Date();
  const view = nodeView(row, (await componentsOf(db, [id])).get(id) ?? [], now);
  return { ...view, holds: (await holdViews(db, [id], now)).get(id) ?? [] };
}

type ComponentRow = Selectable<NodeComponentsTable> &
  Partial<Pick<Selectable<NodeConfigStateTable>, 'binary_version'>> & {
    version_source: string | null;
    config_hashes: unknown;
  };

async function componentsOf(db: Db, nodeIds: readonly string[]): Promise<Map<string, ComponentRow[]>> {
  const rows = await db
    .selectFrom('node_components as c')
    .leftJoin('node_config_state as s', (join) =>
      join.onRef('s.node_id', '=', 'c.node_id').onRef('s.binary_name', '=', 'c.binary_name'),
    )
    .selectAll('c')
    .select(['s.binary_version', 's.version_source', 's.config_hashes'])
    .where('c.node_id', '=', sql<string>`any(${[...nodeIds]}::uuid[])`)
    .orderBy('c.binary_name')
    .execute();
  const byNode = new Map<string, ComponentRow[]>();
  for (const row of rows) byNode.set(row.node_id, [...(byNode.get(row.node_id) ?? []), row]);
  return byNode;
}

function nodeView(
  row: Selectable<NodesTable>,
  components: readonly ComponentRow[],
  now: Date,
): Omit<NodeView, 'holds'> {
  return {
    id: row.id,
    name: row.name,
    chain_profile_id: row.chain_profile_id,
    node_type: row.node_type,
    labels: row.labels as Record<string, string>,
    state: row.state,
    display_state: displayState(row.state, row.application_health, row.sync_status).text,
    application_health: row.application_health,
    sync_status: row.sync_status,
    height: row.height,
    online: isOnline(row.last_heartbeat_at, now),
    last_heartbeat_at: timestampOrNull(row.last_heartbeat_at),
    clock_skew_ms: row.clock_skew_ms,
    joined_at: timestampOrNull(row.joined_at),
    quarantined_at: timestampOrNull(row.quarantined_at),
    platform: row.platform,
    components: components.map(componentView),
    created_at: timestamp(row.created_at),
  };
}

function componentView(row: ComponentRow): NodeView['components'][number] {
  return {
    binary_name: row.binary_name,
    runtime_type: row.runtime_type,
    artifact_kind: row.artifact_kind,
    active: row.active,
    main_pid: row.main_pid,
    restarts: row.restarts,
    running_checksum: row.running_checksum,
    installed_checksum: row.installed_checksum,
    reported_version: row.reported_version,
    binary_version: row.binary_version ?? null,
    version_source: (row.version_source ?? 'unknown') as NodeView['components'][number]['version_source'],
    configs: configsOf(row),
  };
}

/** What rollouts wrote beside what the agent saw; an empty hash stands for a file that is not there. */
function configsOf(row: ComponentRow): NodeView['components'][number]['configs'] {
  const found = (row.config_checksums ?? {}) as Record<string, string>;
  return Object.entries((row.config_hashes ?? {}) as Record<string, string>)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([path, written]) => {
      const seen = found[path];
      const missing = (seen === undefined || seen === '') && written !== '';
      return { path, state: seen === written ? 'as_written' : missing ? 'missing' : 'edited' };
    });
}
