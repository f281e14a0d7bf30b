import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { checksumOf, insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { appendEvent } from '../events/append-event.ts';
import { preCheckNode } from './pre-check-node.ts';
import { lockRollout } from './rollout-row.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
beforeEach(() => database.pool.query('truncate rollouts, rollout_nodes, active_chains cascade'));
afterAll(() => database.dispose());

/** A cancel as the API takes it: the rollout's row is locked, the control and its event are written. */
function cancel(rolloutId: string): Promise<void> {
  return database.db.transaction().execute(async (tx) => {
    await lockRollout(tx, rolloutId);
    await tx
      .insertInto('rollout_controls')
      .values({ rollout_id: rolloutId, kind: 'cancel', actor: 'key:test' })
      .execute();
    await appendEvent(tx, {
      kind: 'rollout_control_ordered',
      subjectType: 'rollout',
      subjectId: rolloutId,
      rolloutId,
      actor: 'key:test',
      data: { control: 'cancel' },
    });
  });
}

const CHAINS = {
  maxBlockIntervalMs: async () => null,
  trustRules: async () => null,
  runtime: async () => null,
  heightMetric: async () => null,
  stableMs: async () => null,
};

it.each([
  ['armed', 'go'],
  ['activated', 'go'],
  ['staged', 'nothing_to_do'],
  [null, 'nothing_to_do'],
] as const)(
  'a node at the target whose stage is %s: what may have swapped by itself begins, so that its result is taken and confirmed (B2)',
  async (stage, kind) => {
    const { db } = database;
    const nodeId = await insertNode(db, { last_heartbeat_at: new Date() });
    const target = checksumOf('b');
    await db.updateTable('node_components').set({ running_checksum: target }).where('node_id', '=', nodeId).execute();
    const rolloutId = await insertRollout(db, { status: 'running', targets_resolved_at: new Date() });
    await insertRolloutNode(db, rolloutId, nodeId, { stage_state: stage });
    const sources = { chains: CHAINS, renderConfigs: async () => new Map() };
    expect(await preCheckNode(db, sources, { rolloutId, nodeId, attempt: 1 })).toMatchObject({ kind });
  },
);

it('a cancel that comes while a node is checked is taken after the begin of its attempt: nothing begins after it (C6, field-cases 90 and 115)', async () => {
  const nodeId = await insertNode(database.db);
  const rolloutId = await insertRollout(database.db, { status: 'running', targets_resolved_at: new Date() });
  await insertRolloutNode(database.db, rolloutId, nodeId);
  let canceled: Promise<void> | undefined;
  let taken = false;
  const sources = {
    chains: CHAINS,
    // rendering takes its time, and just then somebody cancels
    renderConfigs: async () => {
      canceled = cancel(rolloutId).then(() => {
        taken = true;
      });
      await waitingForLock();
      expect(taken).toBe(false);
      return new Map();
    },
  };
  expect(await preCheckNode(database.db, sources, { rolloutId, nodeId, attempt: 1 })).toMatchObject({ kind: 'go' });
  await canceled;
  const events = await database.db
    .selectFrom('events')
    .select('kind')
    .where('rollout_id', '=', rolloutId)
    .orderBy('id')
    .execute();
  expect(events.map(({ kind }) => kind)).toEqual(['node_upgrade_started', 'rollout_control_ordered']);
});

/** Resolves when a transaction of this database waits for another's lock, or none does although it had the time to. */
async function waitingForLock(): Promise<void> {
  const looks = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  for (let look = 0; look < 300; look += 1) {
    if ((await database.pool.query(looks)).rowCount) return;
    await new Promise((wake) => setTimeout(wake, 10));
  }
}
