import { createRolloutSchema } from '@hoodcloud/contracts/http/rollout-requests';
import type { Database } from '@hoodcloud/controlplane/db/database';
import type { RolloutGroupsTable } from '@hoodcloud/controlplane/db/generated/tables';
import { json } from '@hoodcloud/controlplane/db/json';
import type { StoredComponent } from '@hoodcloud/controlplane/rollout-groups/stored-component';
import type { Insertable } from 'kysely';
import { checksumOf } from './rows.ts';

/** The two programs of the test chain: an execution client and its companion. */
export const GROUP_BINARIES = ['execution', 'companion'] as const;

/** A component to v2.0.0 with unremarkable settings; `request` names what differs. */
function aComponent(
  chainProfileId: string,
  componentIndex: number,
  binaryName: string,
  request: Partial<StoredComponent['draft']['request']>,
): StoredComponent {
  const whole = createRolloutSchema.parse({
    chain_profile_id: chainProfileId,
    node_type: 'validator',
    binary_name: binaryName,
    strategy: 'rolling',
    batch_size: 10,
  });
  return {
    component_index: componentIndex,
    binary_name: binaryName,
    draft: {
      request: { ...whole, ...request },
      upgrade: {
        binary_name: binaryName,
        target_version: 'v2.0.0',
        target_binary_url: `https://example.org/${binaryName}`,
        target_binary_checksum: checksumOf('b'),
        target_artifact_member: null,
        target_artifact_signature: null,
        artifacts: null,
        manifest_content_hash: checksumOf('c'),
        migration_type: 'none',
        recovery_plan: null,
        drift_policy: 'fail',
        link_policy: 'follow',
        hooks: [],
        release_name: null,
        released_at: null,
        manifest_key: null,
      },
      artifactKind: 'file',
      healthWaitMs: 1000,
      configChanges: [],
      twoPersonApproval: false,
      startApproval: false,
    },
  };
}

export interface GroupRowParts extends Partial<Insertable<RolloutGroupsTable>> {
  readonly chain_profile_id: string;
  /** What differs for every component's rollout. */
  readonly request?: Partial<StoredComponent['draft']['request']>;
  readonly binaries?: readonly string[];
}

/** A pending group of an execution client and its companion that owns its chain, unless told otherwise. */
export async function insertGroup(db: Database, parts: GroupRowParts): Promise<string> {
  const { request = {}, binaries = GROUP_BINARIES, ...columns } = parts;
  const components = binaries.map((name, index) => aComponent(columns.chain_profile_id, index, name, request));
  const { id } = await db
    .insertInto('rollout_groups')
    .values({
      node_type: 'validator',
      failure_policy: 'manual',
      strategy: 'rolling',
      gate_timeout_ms: 60_000,
      component_order: json(components),
      desired_versions: json(Object.fromEntries(binaries.map((name) => [name, 'v2.0.0']))),
      created_by: 'key:test',
      ...columns,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const chain = { chain_profile_id: columns.chain_profile_id, owner_type: 'rollout_group', owner_id: id } as const;
  await db.insertInto('active_chains').values(chain).execute();
  return id;
}

/** Gives a node the components of the test chain, each running what `checksumOf('a')` is. */
export async function insertGroupComponents(db: Database, nodeId: string): Promise<void> {
  for (const binary_name of GROUP_BINARIES) {
    const checksum = checksumOf('a');
    const component = { node_id: nodeId, binary_name, active: true } as const;
    await db
      .insertInto('node_components')
      .values({
        ...component,
        runtime_type: 'process',
        artifact_kind: 'file',
        running_checksum: checksum,
        installed_checksum: checksum,
      })
      .execute();
    await db
      .insertInto('node_config_state')
      .values({
        node_id: nodeId,
        binary_name,
        binary_version: 'v1.0.0',
        binary_checksum: checksum,
        version_source: 'profile',
      })
      .execute();
  }
}
