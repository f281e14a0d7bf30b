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
const LONG_AGO = new Date(Date.now() - 3_600_000);

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

it('a rollout that comes to wait for its approval tells so once, not at every question (field-case 112)', async () => {
  const { db } = database;
  const rolloutId = await insertRollout(db, {
    status: 'running',
    strategy: 'canary',
    canary_size: 1,
    migration_type: 'breaking',
    targets_resolved_at: LONG_AGO,
    started_at: LONG_AGO,
  });
  const ended = {
    status: 'succeeded',
    attempt_count: 1,
    requested_attempt: 1,
    started_at: LONG_AGO,
    ended_at: LONG_AGO,
  } as const;
  await insertRolloutNode(db, rolloutId, await insertNode(db), ended);
  await insertRolloutNode(db, rolloutId, await insertNode(db), { batch_index: 1 });
  for (let question = 0; question < 3; question++) await updateRolloutProgress(db, CHAINS, rolloutId, []);
  const told = await db.selectFrom('events').selectAll().where('kind', '=', 'rollout_waiting_for_approval').execute();
  expect(told).toMatchObject([{ rollout_id: rolloutId, reason: 'waiting_for_approval', severity: 'warning' }]);
});
