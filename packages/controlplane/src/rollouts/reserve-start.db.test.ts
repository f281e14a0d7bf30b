import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertPolicy, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { preCheckNode } from './pre-check-node.ts';
import { updateRolloutProgress } from './rollout-progress.ts';

const CHAINS = {
  runtime: async () => null,
  maxBlockIntervalMs: async () => null,
  trustRules: async () => null,
  heightMetric: async () => null,
  stableMs: async () => null,
};
const SOURCES = { chains: CHAINS, renderConfigs: async () => new Map() };
const NORTH = { zone: 'north' };

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());
beforeEach(async () => {
  await database.db.deleteFrom('policies').execute();
  await database.db.updateTable('nodes').set({ state: 'terminated', maintenance_owner: null }).execute();
});

interface Offered {
  readonly rolloutId: string;
  readonly nodeIds: readonly string[];
}

/** A running rollout on a chain of its own, whose nodes are all offered at this moment. */
async function offered(chain: string, count: number, columns = {}): Promise<Offered> {
  const { db } = database;
  const rolloutId = await insertRollout(db, {
    chain_profile_id: chain,
    status: 'running',
    batch_size: count,
    targets_resolved_at: new Date(),
    ...columns,
  });
  const nodeIds: string[] = [];
  for (let i = 0; i < count; i++) {
    const nodeId = await insertNode(db, { chain_profile_id: chain, labels: NORTH });
    await insertRolloutNode(db, rolloutId, nodeId, { offered_at: new Date() });
    nodeIds.push(nodeId);
  }
  return { rolloutId, nodeIds };
}

const begin = ({ rolloutId, nodeIds }: Offered) =>
  nodeIds.map((nodeId) => preCheckNode(database.db, SOURCES, { rolloutId, nodeId, attempt: 1 }));

async function statusesOf(rolloutIds: readonly string[]) {
  return database.db
    .selectFrom('rollout_nodes')
    .select(['status', 'offered_at', 'rollout_id'])
    .where('rollout_id', 'in', [...rolloutIds])
    .execute();
}

describe('places of a disruption budget', () => {
  it('two rollouts that begin at the same moment never take more than there are (field-cases 88 and 101)', async () => {
    await insertPolicy(database.db, 'disruption_budget', 'zones', { scope: {}, per: 'zone', max_unavailable: 3 });
    await insertPolicy(database.db, 'disruption_budget', 'fleet', { scope: {}, max_unavailable: 4 });
    const one = await offered('race-one', 6);
    const other = await offered('race-other', 6);
    const answers = await Promise.all([...begin(one), ...begin(other)]);
    expect(answers.filter(({ kind }) => kind === 'go')).toHaveLength(3);
    const rows = await statusesOf([one.rolloutId, other.rolloutId]);
    expect(rows.filter(({ status }) => status === 'in_progress')).toHaveLength(3);
    // the others are as if they had never been offered
    const waiting = rows.filter(({ status }) => status === 'pending');
    expect(waiting.map(({ offered_at }) => offered_at)).toEqual(Array.from({ length: 9 }, () => null));
  });

  it('who came too late is told why, and takes the place when it is free again', async () => {
    const { db } = database;
    await insertPolicy(db, 'disruption_budget', 'zones', { scope: {}, per: 'zone', max_unavailable: 1 });
    const first = await offered('late-first', 1);
    const late = await offered('late-late', 1);
    expect(await Promise.all(begin(first))).toMatchObject([{ kind: 'go' }]);
    expect(await Promise.all(begin(late))).toEqual([{ kind: 'nothing_to_do' }]);
    const answer = await updateRolloutProgress(db, CHAINS, late.rolloutId, []);
    expect(answer.kind).toBe('wait');
    const { last_decision } = await db
      .selectFrom('rollouts')
      .select('last_decision')
      .where('id', '=', late.rolloutId)
      .executeTakeFirstOrThrow();
    expect(last_decision).toMatchObject({
      reasons: [{ code: 'disruption_budget_reached', params: { budget: 'zones' } }],
    });
    await db
      .updateTable('rollout_nodes')
      .set({ status: 'succeeded' })
      .where('rollout_id', '=', first.rolloutId)
      .execute();
    await db
      .updateTable('nodes')
      .set({ state: 'healthy', maintenance_owner: null })
      .where('id', 'in', [...first.nodeIds])
      .execute();
    expect(await updateRolloutProgress(db, CHAINS, late.rolloutId, [])).toMatchObject({ kind: 'run' });
    expect(await Promise.all(begin(late))).toMatchObject([{ kind: 'go' }]);
  });

  it('nothing starts on an answer that is old: a freeze that came after the offer holds the node', async () => {
    const { db } = database;
    const late = await offered('frozen', 1);
    const hour = 3_600_000;
    await insertPolicy(db, 'freeze', 'payout', {
      scope: {},
      from: new Date(Date.now() - hour).toISOString(),
      to: new Date(Date.now() + hour).toISOString(),
      reason: 'payouts run',
    });
    expect(await Promise.all(begin(late))).toEqual([{ kind: 'nothing_to_do' }]);
    expect(await statusesOf([late.rolloutId])).toMatchObject([{ status: 'pending', offered_at: null }]);
  });

  it('begins of one rollout keep within max_in_flight, their own offers aside', async () => {
    const three = await offered('limited', 3, { max_in_flight: 2 });
    const answers: string[] = [];
    for (const turn of three.nodeIds)
      answers.push(...(await Promise.all(begin({ ...three, nodeIds: [turn] }))).map((a) => a.kind));
    expect(answers).toEqual(['go', 'go', 'nothing_to_do']);
  });
});
