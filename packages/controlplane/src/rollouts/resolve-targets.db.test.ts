import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { checksumOf, insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json } from '../db/json.ts';
import { insertRows } from './resolve-targets.ts';
import { lockRollout } from './rollout-row.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

describe('the rows of a rollout', () => {
  it('keep the way back of each node: what it was installed from, else what is seen on it, else nothing', async () => {
    const { db } = database;
    const installed = await insertNode(db, { runningChecksum: checksumOf('a'), version: 'v1.4.0' });
    await db
      .updateTable('node_config_state')
      .set({
        binary_url: 'https://releases.example/v1.4.0.tar.gz',
        binary_checksum: checksumOf('c'),
        artifact_member: 'bin/cometbft',
        config_hashes: json({ 'app.toml': checksumOf('d') }),
      })
      .where('node_id', '=', installed)
      .execute();
    const seen = await insertNode(db, { runningChecksum: checksumOf('b') });
    await db.deleteFrom('node_config_state').where('node_id', '=', seen).execute();
    const stopped = await insertNode(db);
    await db.deleteFrom('node_config_state').where('node_id', '=', stopped).execute();
    await db
      .updateTable('node_components')
      .set({ running_checksum: null, installed_checksum: checksumOf('e') })
      .where('node_id', '=', stopped)
      .execute();
    const bare = await insertNode(db, { runningChecksum: null });
    const other = await insertNode(db, { runningChecksum: checksumOf('f') });
    await db.updateTable('node_components').set({ binary_name: 'sidecar' }).where('node_id', '=', other).execute();

    const id = await insertRollout(db, { status: 'running' });
    const batches = new Map([installed, seen, stopped].map((node, index) => [node, index]));
    await db.transaction().execute(async (tx) => {
      const rollout = await lockRollout(tx, id);
      const all = [installed, seen, stopped, bare, other];
      await insertRows(tx, rollout, all, batches, { late: true });
      // a second call adds nothing and changes nothing
      await insertRows(tx, rollout, all, new Map());
    });

    const rows = await db.selectFrom('rollout_nodes').selectAll().where('rollout_id', '=', id).execute();
    const nothing = {
      status: 'pending',
      late: true,
      previous_version: null,
      previous_binary_url: null,
      previous_checksum: null,
      previous_artifact_member: null,
      previous_installed_checksum: null,
      previous_config_hashes: {},
    };
    const row = (node: string) => rows.find(({ node_id }) => node_id === node);
    expect(rows).toHaveLength(5);
    expect(row(installed)).toMatchObject({
      ...nothing,
      batch_index: 0,
      previous_version: 'v1.4.0',
      previous_binary_url: 'https://releases.example/v1.4.0.tar.gz',
      previous_checksum: checksumOf('c'),
      previous_artifact_member: 'bin/cometbft',
      previous_installed_checksum: checksumOf('a'),
      previous_config_hashes: { 'app.toml': checksumOf('d') },
    });
    expect(row(seen)).toMatchObject({
      ...nothing,
      batch_index: 1,
      previous_checksum: checksumOf('b'),
      previous_installed_checksum: checksumOf('b'),
    });
    expect(row(stopped)).toMatchObject({
      ...nothing,
      batch_index: 2,
      previous_checksum: checksumOf('e'),
      previous_installed_checksum: checksumOf('e'),
    });
    expect(row(bare)).toMatchObject({ ...nothing, batch_index: -1 });
    expect(row(other)).toMatchObject({ ...nothing, batch_index: -1 });
  });
});
