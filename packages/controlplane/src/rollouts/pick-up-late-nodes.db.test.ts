import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertPolicy, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { finalizeRollout } from './finalize-rollout.ts';
import { updateRolloutProgress } from './rollout-progress.ts';

const CHAINS = {
  runtime: async () => null,
  maxBlockIntervalMs: async () => null,
  trustRules: async () => null,
  heightMetric: async () => null,
  stableMs: async () => null,
};
const BEFORE = new Date(Date.now() - 3_600_000);
const DONE = {
  status: 'succeeded',
  attempt_count: 1,
  requested_attempt: 1,
  started_at: BEFORE,
  ended_at: BEFORE,
} as const;
const AWAY = { status: 'skipped', status_reason: 'agent_offline', batch_index: -1, ended_at: BEFORE } as const;

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
beforeEach(() =>
  database.pool.query(
    'truncate active_chains, events, policies; delete from agent_commands; delete from rollout_nodes; delete from rollouts; delete from nodes',
  ),
);
afterAll(() => database.dispose());

/** A running rollout with one node that has succeeded. */
async function running(differs: object = {}): Promise<string> {
  const { db } = database;
  const rolloutId = await insertRollout(db, {
    status: 'running',
    batch_size: 2,
    late_nodes: 'include',
    targets_resolved_at: BEFORE,
    started_at: BEFORE,
    ...differs,
  });
  await insertRolloutNode(db, rolloutId, await insertNode(db, { name: 'done' }), DONE);
  return rolloutId;
}

const ask = (rolloutId: string) => updateRolloutProgress(database.db, CHAINS, rolloutId, []);

async function rows(rolloutId: string): Promise<string[]> {
  const found = await database.db
    .selectFrom('rollout_nodes as r')
    .innerJoin('nodes as n', 'n.id', 'r.node_id')
    .select(['n.name', 'r.batch_index', 'r.status', 'r.late'])
    .where('r.rollout_id', '=', rolloutId)
    .orderBy('n.name')
    .execute();
  return found.map(({ name, batch_index, status, late }) => `${name} ${batch_index} ${status}${late ? ' late' : ''}`);
}

const counters = (rolloutId: string) =>
  database.db
    .selectFrom('rollouts')
    .select(['total_nodes', 'succeeded_nodes', 'pending_nodes', 'skipped_nodes'])
    .where('id', '=', rolloutId)
    .executeTakeFirstOrThrow();

it('nodes that came back or joined while a rollout ran come after all others, batch by batch (field-case 109)', async () => {
  const { db } = database;
  const rolloutId = await running();
  await insertRolloutNode(db, rolloutId, await insertNode(db, { name: 'back' }), AWAY);
  await insertRolloutNode(db, rolloutId, await insertNode(db, { name: 'away', last_heartbeat_at: BEFORE }), AWAY);
  for (const name of ['new-1', 'new-2']) await insertNode(db, { name });
  await insertNode(db, { name: 'added', joined_at: null, last_heartbeat_at: null });
  await insertNode(db, { name: 'elsewhere', chain_profile_id: 'other' });

  const answer = await ask(rolloutId);
  expect(answer.kind === 'run' && answer.nodes).toHaveLength(2); // as many as a batch has
  const placed = await rows(rolloutId);
  expect(placed.filter((row) => row.endsWith('late')).map((row) => row.split(' ')[0])).toEqual([
    'back',
    'new-1',
    'new-2',
  ]);
  expect(placed.filter((row) => row.includes(' 1 pending late'))).toHaveLength(2);
  expect(placed.filter((row) => row.includes(' 2 pending late'))).toHaveLength(1);
  expect(placed).toContain('away -1 skipped');
  expect(placed).toContain('done 0 succeeded');
  expect(await counters(rolloutId)).toEqual({
    total_nodes: 5,
    succeeded_nodes: 1,
    pending_nodes: 3,
    skipped_nodes: 1,
  });
  const told = await db.selectFrom('events').selectAll().where('kind', '=', 'node_upgrade_picked_up').execute();
  expect(told.map(({ reason, reason_params }) => [reason, (reason_params as { came: string }).came]).sort()).toEqual([
    ['picked_up_late', 'came back'],
    ['picked_up_late', 'joined'],
    ['picked_up_late', 'joined'],
  ]);
});

it('a disruption budget holds late nodes as all others', async () => {
  const { db } = database;
  await insertPolicy(db, 'disruption_budget', 'one', { scope: { chains: ['testchain'] }, max_unavailable: 1 });
  const rolloutId = await running();
  for (const name of ['new-1', 'new-2']) await insertNode(db, { name });
  const answer = await ask(rolloutId);
  expect(answer.kind === 'run' && answer.nodes).toHaveLength(1);
  expect((await rows(rolloutId)).filter((row) => row.endsWith('1 pending late'))).toHaveLength(2);
});

it('a rollout that was not told to take them ends without them', async () => {
  const rolloutId = await running({ late_nodes: 'ignore' });
  await insertNode(database.db, { name: 'new-1' });
  expect(await ask(rolloutId)).toMatchObject({ kind: 'finish', status: 'completed' });
  expect(await rows(rolloutId)).toEqual(['done 0 succeeded']);
});

it('a rollout for named nodes takes back those that were away, and nobody else', async () => {
  const { db } = database;
  const back = await insertNode(db, { name: 'back' });
  const rolloutId = await running({ node_ids: [back] });
  await insertRolloutNode(db, rolloutId, back, AWAY);
  await insertNode(db, { name: 'new-1' });
  expect(await ask(rolloutId)).toMatchObject({ kind: 'run', nodes: [{ nodeId: back }] });
  expect(await rows(rolloutId)).toEqual(['back 1 pending late', 'done 0 succeeded']);
});

it('a node is picked up once: one that comes and goes does not keep a rollout open', async () => {
  const { db } = database;
  const rolloutId = await running();
  await insertRolloutNode(db, rolloutId, await insertNode(db, { name: 'flaps' }), {
    ...AWAY,
    late: true,
    batch_index: 1,
  });
  expect(await ask(rolloutId)).toMatchObject({ kind: 'finish', status: 'completed' });
});

it('a rollout that is over is not opened again', async () => {
  const rolloutId = await running();
  const end = { code: 'all_nodes_ended', params: { succeeded: 1, failed: 0, skipped: 0 } } as const;
  expect(await finalizeRollout(database.db, rolloutId, 'completed', end)).toBe(true);
  await insertNode(database.db, { name: 'new-1' });
  expect(await ask(rolloutId)).toMatchObject({ kind: 'finish', status: 'completed' });
  expect(await rows(rolloutId)).toEqual(['done 0 succeeded']);
});

it('a node whose agent was asked for something already keeps its row', async () => {
  const { db } = database;
  const rolloutId = await running();
  const nodeId = await insertNode(db, { name: 'asked' });
  const row = await insertRolloutNode(db, rolloutId, nodeId, AWAY);
  await db
    .insertInto('agent_commands')
    .values({
      node_id: nodeId,
      rollout_id: rolloutId,
      rollout_node_id: row,
      attempt_id: 'a',
      operation: 'STAGE',
      payload: Buffer.from(''),
      workflow_id: 'w',
      deadline_at: BEFORE,
    })
    .execute();
  expect(await ask(rolloutId)).toMatchObject({ kind: 'finish', status: 'completed' });
});
