import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { updateRolloutProgress } from './rollout-progress.ts';

const CHAINS = {
  runtime: async () => null,
  maxBlockIntervalMs: async () => null,
  trustRules: async () => null,
  heightMetric: async () => null,
  stableMs: async () => null,
};

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

it('questions asked at the same moment offer no more nodes than may be in flight (C7, field-case 101)', async () => {
  const { db } = database;
  const began = new Date(Date.now() - 60_000);
  const rolloutId = await insertRollout(db, {
    status: 'running',
    batch_size: 8,
    max_in_flight: 2,
    targets_resolved_at: began,
    started_at: began,
  });
  for (let i = 0; i < 8; i++) await insertRolloutNode(db, rolloutId, await insertNode(db));
  await Promise.all(Array.from({ length: 6 }, () => updateRolloutProgress(db, CHAINS, rolloutId, [])));
  const rows = await db.selectFrom('rollout_nodes').select('offered_at').where('rollout_id', '=', rolloutId).execute();
  expect(rows.filter(({ offered_at }) => offered_at !== null)).toHaveLength(2);
});
