import type { MigratedDatabase } from '@hoodcloud/testkit/migrated-database';

/** Adds `nodes` nodes of chain `testchain`, online and on v1.0.0, to a database that has none; names count from node-00000. */
export async function insertLargeFleet({ pool }: MigratedDatabase, nodes: number): Promise<void> {
  await pool.query(
    `
    insert into nodes (name, chain_profile_id, node_type, state, joined_at, last_heartbeat_at)
    select 'node-' || lpad(i::text, 5, '0'), 'testchain', 'validator', 'healthy', now(), now()
      from generate_series(0, $1::int) i`,
    [nodes - 1],
  );
  await pool.query(`
    insert into node_components (node_id, binary_name, runtime_type, artifact_kind, active)
    select id, 'cometbft', 'systemd', 'file', true from nodes`);
  await pool.query(`
    insert into node_config_state (node_id, binary_name, binary_version, version_source)
    select id, 'cometbft', 'v1.0.0', 'profile' from nodes`);
}
