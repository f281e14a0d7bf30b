import { randomUUID } from 'node:crypto';
import { POLICY_SPECS, type PolicyKind } from '@hoodcloud/contracts/policies/policy-document';
import type { Database } from '@hoodcloud/controlplane/db/database';
import type { NodesTable, RolloutNodesTable, RolloutsTable } from '@hoodcloud/controlplane/db/generated/tables';
import { json } from '@hoodcloud/controlplane/db/json';
import type { Insertable } from 'kysely';

/** `sha256:` and 64 times the same hex digit. */
export function checksumOf(digit: string): string {
  return `sha256:${digit.repeat(64)}`;
}

export interface NodeRow extends Partial<Insertable<NodesTable>> {
  /** Running checksum of the component `cometbft`; null: the node has no component. */
  readonly runningChecksum?: string | null;
  readonly runtimeType?: 'systemd' | 'docker' | 'process';
  readonly version?: string;
}

/** A joined, healthy node with one component `cometbft` and a heartbeat of this moment, unless told otherwise. */
export async function insertNode(db: Database, row: NodeRow = {}): Promise<string> {
  const { runningChecksum = checksumOf('a'), runtimeType = 'process', version = 'v1.0.0', ...columns } = row;
  const now = new Date();
  const { id } = await db
    .insertInto('nodes')
    .values({
      name: `node-${randomUUID().slice(0, 8)}`,
      chain_profile_id: 'testchain',
      node_type: 'validator',
      state: 'healthy',
      joined_at: now,
      last_heartbeat_at: now,
      ...columns,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (runningChecksum !== null) {
    await db
      .insertInto('node_components')
      .values({
        node_id: id,
        binary_name: 'cometbft',
        runtime_type: runtimeType,
        artifact_kind: runtimeType === 'docker' ? 'image' : 'file',
        active: true,
        running_checksum: runningChecksum,
        installed_checksum: runningChecksum,
      })
      .execute();
    await db
      .insertInto('node_config_state')
      .values({
        node_id: id,
        binary_name: 'cometbft',
        binary_version: version,
        binary_checksum: runningChecksum,
        version_source: 'profile',
      })
      .execute();
  }
  return id;
}

/** A rolling rollout on `testchain` in the given status; the chain is taken while that status is an active one. */
export async function insertRollout(db: Database, row: Partial<Insertable<RolloutsTable>> = {}): Promise<string> {
  const { id, chain_profile_id, status } = await db
    .insertInto('rollouts')
    .values({
      chain_profile_id: 'testchain',
      node_type: 'validator',
      binary_name: 'cometbft',
      source_version: 'v1.0.0',
      target_version: 'v2.0.0',
      artifact_kind: 'file',
      target_binary_url: 'https://example.org/v2.0.0',
      target_binary_checksum: checksumOf('b'),
      strategy: 'rolling',
      batch_size: 1,
      health_wait_ms: 1000,
      manifest_content_hash: checksumOf('c'),
      created_by: 'key:test',
      ...row,
    })
    .returning(['id', 'chain_profile_id', 'status'])
    .executeTakeFirstOrThrow();
  if (status === 'pending' || status === 'running' || status === 'paused') {
    await db.insertInto('active_chains').values({ chain_profile_id, owner_type: 'rollout', owner_id: id }).execute();
  }
  return id;
}

/** A node's row in a rollout, pending in batch 0 unless told otherwise. */
export async function insertRolloutNode(
  db: Database,
  rolloutId: string,
  nodeId: string,
  row: Partial<Insertable<RolloutNodesTable>> = {},
): Promise<string> {
  const { id } = await db
    .insertInto('rollout_nodes')
    .values({ rollout_id: rolloutId, node_id: nodeId, batch_index: 0, ...row })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** A policy that stands, as PUT /policies/KIND/NAME stores it. */
export async function insertPolicy(db: Database, kind: PolicyKind, name: string, spec: object): Promise<void> {
  const whole = json(POLICY_SPECS[kind].parse(spec));
  await db
    .insertInto('policies')
    .values({ kind, name, spec: whole, created_by: 'key:test', updated_by: 'key:test' })
    .execute();
}
