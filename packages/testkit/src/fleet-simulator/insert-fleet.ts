import { newAgentCredential } from '@hoodcloud/controlplane/gateway/agent-secret';
import type { Pool } from 'pg';
import type { SimulatedIdentity } from './simulated-agent.ts';

export interface FleetRows {
  readonly nodes: number;
  readonly chainProfileId: string;
  readonly nodeType: string;
  readonly binaryName: string;
  readonly version: string;
  /** `sha256:<hex>` of what they run. */
  readonly running: string;
  /** Names count from `<prefix>-00000`. */
  readonly namePrefix: string;
}

/** Adds joined, healthy nodes with one component each, by a few statements for all. @returns who their agents are, in the order of the names */
export async function insertFleet(pool: Pool, rows: FleetRows): Promise<SimulatedIdentity[]> {
  const { nodes, chainProfileId, nodeType, binaryName, version, running, namePrefix } = rows;
  const secrets = Array.from({ length: nodes }, () => newAgentCredential());
  const inserted = await pool.query<{ id: string; name: string }>(
    `insert into nodes (name, chain_profile_id, node_type, state, joined_at, last_heartbeat_at)
     select $1 || '-' || lpad(i::text, 5, '0'), $2, $3, 'healthy', now(), now() from generate_series(0, $4::int) i
     returning id, name`,
    [namePrefix, chainProfileId, nodeType, nodes - 1],
  );
  const ids = inserted.rows.sort((one, other) => (one.name < other.name ? -1 : 1)).map(({ id }) => id);
  await pool.query(
    `insert into node_components (node_id, binary_name, runtime_type, artifact_kind, active, running_checksum, installed_checksum)
     select id, $2, 'process', 'file', true, $3, $3 from unnest($1::uuid[]) id`,
    [ids, binaryName, running],
  );
  await pool.query(
    `insert into node_config_state (node_id, binary_name, binary_version, binary_checksum, version_source)
     select id, $2, $3, $4, 'profile' from unnest($1::uuid[]) id`,
    [ids, binaryName, version, running],
  );
  await pool.query(
    `insert into agent_credentials (node_id, secret_hash) select * from unnest($1::uuid[], $2::bytea[])`,
    [ids, secrets.map(({ hash }) => hash)],
  );
  return ids.map((nodeId, at) => ({ nodeId, credential: secrets[at]?.secret ?? '' }));
}
