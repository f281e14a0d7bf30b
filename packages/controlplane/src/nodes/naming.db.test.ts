import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { checksumOf, insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseProfile } from '../manifests/chain-files.ts';
import { parseManifest } from '../manifests/file-reader.ts';
import { nameByOperator, nameRunningComponent, type VersionSources } from './naming.ts';

const OLD = checksumOf('a');
const NEW = checksumOf('b');
const STRANGE = checksumOf('f');

const profile = parseProfile(
  'profile.yaml',
  `chain_profile_id: testchain
node_types: [validator]
binaries:
  - name: cometbft
    known_versions: [{ version: v1.0.0, checksum: "${OLD}", url: "https://example.org/v1" }]
health: { healthy_expression: metrics.up == 1, synced_expression: metrics.up == 1 }
`,
  'testchain',
);
const manifest = parseManifest(
  'v2.yaml',
  `upgrade_id: v2
chain_profile_id: testchain
node_type: validator
binary_name: cometbft
target_version: v2.0.0
target_url: https://example.org/v2
target_checksum: ${NEW}
`,
  'testchain',
  'v2',
);
const sources: VersionSources = {
  chains: { profile: async () => profile },
  manifests: { list: async () => [{ manifest, contentHash: checksumOf('c'), file: 'v2.yaml', signedBy: null }] },
};

let database: MigratedDatabase;
let nodeId: string;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
beforeEach(async () => {
  nodeId = await insertNode(database.db);
  await database.db.deleteFrom('node_config_state').where('node_id', '=', nodeId).execute();
});
afterAll(() => database.dispose());

function name(runningChecksum: string): Promise<string | null> {
  return nameRunningComponent(database.db, sources, {
    nodeId,
    binaryName: 'cometbft',
    runningChecksum,
    installedChecksum: runningChecksum,
  });
}

function stored() {
  return database.db
    .selectFrom('node_config_state')
    .select(['binary_version', 'version_source', 'binary_url', 'binary_checksum'])
    .where('node_id', '=', nodeId)
    .executeTakeFirst();
}

describe('nameRunningComponent (B2)', () => {
  it('names what the profile knows, with the address to go back to', async () => {
    expect(await name(OLD)).toBe('v1.0.0');
    expect(await stored()).toEqual({
      binary_version: 'v1.0.0',
      version_source: 'profile',
      binary_url: 'https://example.org/v1',
      binary_checksum: OLD,
    });
  });

  it('names what a manifest offers', async () => {
    expect(await name(NEW)).toBe('v2.0.0');
    expect(await stored()).toMatchObject({ version_source: 'manifest' });
  });

  it('names what a rollout installed from an archive, whose checksum is another one (A6)', async () => {
    const rolloutId = await insertRollout(database.db, { status: 'completed', target_version: 'v3.0.0' });
    await insertRolloutNode(database.db, rolloutId, await insertNode(database.db), {
      status: 'succeeded',
      running_checksum: checksumOf('9'),
    });
    expect(await name(checksumOf('9'))).toBe('v3.0.0');
  });

  it('shows what nobody knows as unknown until an operator names it, and keeps that name', async () => {
    expect(await name(STRANGE)).toBeNull();
    expect(await stored()).toMatchObject({ binary_version: null, version_source: 'unknown', binary_checksum: STRANGE });
    await database.db
      .updateTable('node_components')
      .set({ running_checksum: STRANGE })
      .where('node_id', '=', nodeId)
      .execute();
    const named = { nodeId, binaryName: 'cometbft', version: 'v0.9-fork', actor: 'key:test' };
    expect(await nameByOperator(database.db, named)).toBe(true);
    expect(await name(STRANGE)).toBe('v0.9-fork');
    expect(await stored()).toMatchObject({ version_source: 'operator' });
  });

  it('follows a binary that somebody replaced by hand', async () => {
    await name(OLD);
    expect(await name(NEW)).toBe('v2.0.0');
    expect(await name(STRANGE)).toBeNull();
  });

  it('leaves a node in maintenance to its rollout', async () => {
    await name(OLD);
    await database.db
      .updateTable('nodes')
      .set({ state: 'maintenance', maintenance_owner: nodeId })
      .where('id', '=', nodeId)
      .execute();
    expect(await name(NEW)).toBe('v1.0.0');
  });

  it('tells it once: the same heartbeat again adds no event', async () => {
    await name(OLD);
    await name(OLD);
    const events = await database.db.selectFrom('events').select('kind').where('node_id', '=', nodeId).execute();
    expect(events).toEqual([{ kind: 'node_version_named' }]);
  });
});

it('names nothing for a component that the node does not have', async () => {
  expect(await nameByOperator(database.db, { nodeId, binaryName: 'geth', version: 'v1', actor: 'key:test' })).toBe(
    false,
  );
});
