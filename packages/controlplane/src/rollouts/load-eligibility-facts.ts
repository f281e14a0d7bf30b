import type { ComponentFacts, ConfigHashes, FailedVersion, NodeEligibilityFacts } from '@hoodcloud/domain/eligibility';
import type { NodeState } from '@hoodcloud/domain/node-state';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { isOnline } from '../nodes/liveness.ts';
import { loadPins } from '../nodes/node-holds.ts';

/**
 * Reads nodes as `judgeEligibility` sees them, for a rollout of one of their components.
 * @param now epoch milliseconds by the database's clock, which also stamped the heartbeats
 */
export async function loadEligibilityFacts(
  db: Db,
  query: {
    readonly rolloutId: string;
    readonly binaryName: string;
    readonly targetVersion: string;
    readonly nodeIds: readonly string[];
    readonly now: number;
  },
): Promise<Map<string, NodeEligibilityFacts>> {
  if (query.nodeIds.length === 0) return new Map();
  const failedBefore = await loadFailedBefore(db, query.rolloutId);
  const rows = await db
    .selectFrom('nodes as n')
    .leftJoin('node_components as c', (join) =>
      join.onRef('c.node_id', '=', 'n.id').on('c.binary_name', '=', query.binaryName),
    )
    .select([
      'n.id',
      'n.node_type',
      'n.state',
      'n.maintenance_owner',
      'n.last_heartbeat_at',
      'n.platform',
      'c.runtime_type',
      'c.running_checksum',
      'c.config_checksums',
      sql<boolean>`n.joined_at is not null`.as('joined'),
      sql<boolean>`n.quarantined_at is not null`.as('quarantined'),
    ])
    .where('n.id', '=', sql<string>`any(${[...query.nodeIds]}::uuid[])`)
    .execute();
  const pins = await loadPins(db, query.binaryName, query.nodeIds);
  const failedVersions = await loadFailedVersions(db, query);
  return new Map(
    rows.map((row) => {
      const beside = {
        failedBefore: failedBefore.get(row.id) ?? null,
        failedVersion: failedVersions.get(row.id) ?? null,
        pin: pins.get(row.id) ?? null,
      };
      return [row.id, { ...eligibilityFacts(row, query.now), ...beside }];
    }),
  );
}

/**
 * By node: the earlier component of the rollout's group that failed there. Of a component that a person skipped nothing
 * is expected, so nothing is missed.
 */
async function loadFailedBefore(db: Db, rolloutId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('rollouts as mine')
    .innerJoin('rollouts as r', 'r.group_id', 'mine.group_id')
    .innerJoin('rollout_nodes as n', 'n.rollout_id', 'r.id')
    .select(['n.node_id', 'r.binary_name'])
    .where('mine.id', '=', rolloutId)
    .whereRef('r.component_index', '<', 'mine.component_index')
    .where('r.status', '=', 'completed')
    .where('n.status', 'in', ['failed', 'rolled_back'])
    .execute();
  return new Map(rows.map((row) => [row.node_id, row.binary_name]));
}

/**
 * By node: how its latest upgrade of the component to this version failed, in whatever other rollout. A version that it had
 * already, and of which only configs were changed, it did not fail; nor did
 * one that was on duty all the time, which was not even stopped.
 */
async function loadFailedVersions(
  db: Db,
  query: {
    readonly rolloutId: string;
    readonly binaryName: string;
    readonly targetVersion: string;
    readonly nodeIds: readonly string[];
  },
): Promise<Map<string, FailedVersion>> {
  const rows = await db
    .selectFrom('rollout_nodes as n')
    .innerJoin('rollouts as r', 'r.id', 'n.rollout_id')
    .distinctOn('n.node_id')
    .select(['n.node_id', 'n.rollout_id', 'n.upgrade_outcome', 'n.upgrade_outcome_at'])
    .where('n.node_id', '=', sql<string>`any(${[...query.nodeIds]}::uuid[])`)
    .where('n.rollout_id', '!=', query.rolloutId)
    .where('r.binary_name', '=', query.binaryName)
    .where('r.target_version', '=', query.targetVersion)
    .where('n.previous_version', 'is distinct from', query.targetVersion)
    .where('n.upgrade_outcome_at', 'is not', null)
    .where('n.error_code', 'is distinct from', 'still_on_duty')
    .orderBy('n.node_id')
    .orderBy('n.upgrade_outcome_at', 'desc')
    .execute();
  return new Map(
    rows.flatMap(({ node_id, rollout_id, upgrade_outcome, upgrade_outcome_at }) =>
      upgrade_outcome === 'failed' && upgrade_outcome_at !== null
        ? [[node_id, { rolloutId: rollout_id, at: upgrade_outcome_at.getTime() }] as const]
        : [],
    ),
  );
}

/** What a component was last installed from, as far as rollouts know. */
export interface InstalledFrom {
  /** Of the downloaded file. */
  readonly checksum: string | null;
  readonly member: string | null;
  readonly installedChecksum: string | null;
}

/** By node: nodes that nobody knows anything of are left out. */
export async function loadInstalledFrom(
  db: Db,
  binaryName: string,
  nodeIds: readonly string[],
): Promise<Map<string, InstalledFrom>> {
  const rows = await db
    .selectFrom('node_config_state')
    .select(['node_id', 'binary_checksum', 'artifact_member', 'installed_checksum'])
    .where('binary_name', '=', binaryName)
    .where('node_id', '=', sql<string>`any(${[...nodeIds]}::uuid[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      row.node_id,
      { checksum: row.binary_checksum, member: row.artifact_member, installedChecksum: row.installed_checksum },
    ]),
  );
}

interface NodeRow {
  readonly id: string;
  readonly node_type: string;
  readonly state: NodeState;
  readonly maintenance_owner: string | null;
  readonly last_heartbeat_at: Date | null;
  readonly joined: boolean;
  readonly quarantined: boolean;
  readonly platform: string | null;
  readonly runtime_type: string | null;
  readonly running_checksum: string | null;
  readonly config_checksums: unknown;
}

function eligibilityFacts(row: NodeRow, now: number): NodeEligibilityFacts {
  return {
    nodeId: row.id,
    nodeType: row.node_type,
    state: row.state,
    maintenanceOwner: row.maintenance_owner,
    joined: row.joined,
    online: isOnline(row.last_heartbeat_at, new Date(now)),
    lastHeartbeatAt: row.last_heartbeat_at?.getTime() ?? null,
    quarantined: row.quarantined,
    platform: row.platform,
    component: componentFacts(row),
  };
}

function componentFacts(row: NodeRow): ComponentFacts | null {
  if (row.runtime_type === null) return null;
  return {
    runtimeType: row.runtime_type,
    runningDigest: row.running_checksum,
    configHashes: (row.config_checksums ?? {}) as ConfigHashes,
  };
}
