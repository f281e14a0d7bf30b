import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertPolicy, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadBudgets } from './load-budgets.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

const NORTH = { zone: 'north' };

it('counts a zone over all chains: in flight in any rollout, silent, ill or down; and not who is no member', async () => {
  const { db } = database;
  const of = (name: string, over: Parameters<typeof insertNode>[1] = {}) =>
    insertNode(db, { name, labels: NORTH, ...over });
  await of('up');
  await of('ill', { state: 'degraded' });
  await of('behind', { state: 'syncing' });
  await of('dead', { state: 'down', chain_profile_id: 'other' });
  await of('silent', { last_heartbeat_at: new Date(Date.now() - 31_000) });
  await of('new', { state: 'provisioning', last_heartbeat_at: null });
  await of('gone', { state: 'terminated' });
  await insertNode(db, { name: 'nowhere', state: 'down' });
  await insertNode(db, { name: 'south', labels: { zone: 'south' } });
  const flying = await of('flying', { chain_profile_id: 'other' });
  const rollout = await insertRollout(db, { chain_profile_id: 'other', status: 'running' });
  await insertRolloutNode(db, rollout, flying, { status: 'validating' });
  await insertPolicy(db, 'disruption_budget', 'zones', { scope: {}, per: 'zone', max_unavailable: '25%' });
  await insertPolicy(db, 'disruption_budget', 'others', { scope: { chains: ['other'] }, max_unavailable: 1 });
  await insertPolicy(db, 'disruption_budget', 'north', {
    scope: { chains: ['testchain'], node_types: ['validator'], labels: { zone: ['north', 'west'] } },
    max_unavailable: 2,
  });
  const budgets = await loadBudgets(db, 'testchain', new Date());
  expect(budgets.map(({ name }) => name)).toEqual(['north', 'zones']);
  const [north, zones] = budgets;
  expect(north?.groups.get('')).toEqual({ members: 4, unavailable: 3, names: ['behind', 'ill', 'silent'] });
  expect(zones).toMatchObject({ per: 'zone', maxUnavailable: '25%' });
  expect([...(zones?.groups ?? [])]).toEqual([
    ['north', { members: 6, unavailable: 5, names: ['behind', 'dead', 'flying', 'ill', 'silent'] }],
    ['south', { members: 1, unavailable: 0, names: [] }],
  ]);
});

it('counts 10,000 nodes in the database: a question costs milliseconds', async () => {
  const { db } = database;
  await sql`insert into nodes (name, chain_profile_id, node_type, state, labels, last_heartbeat_at)
    select 'many-' || i, 'many', 'full', 'healthy', jsonb_build_object('rack', i % 100), now()
      from generate_series(1, 10000) i`.execute(db);
  await insertPolicy(db, 'disruption_budget', 'racks', { scope: {}, per: 'rack', max_unavailable: 1 });
  const began = performance.now();
  const [racks] = (await loadBudgets(db, 'many', new Date())).filter(({ name }) => name === 'racks');
  const tookMs = performance.now() - began;
  expect(racks?.groups.size).toBe(100);
  expect(racks?.groups.get('7')).toEqual({ members: 100, unavailable: 0, names: [] });
  // generous for a machine under load; measured 25 ms for both budgets
  expect(tookMs).toBeLessThan(2_000);
});
