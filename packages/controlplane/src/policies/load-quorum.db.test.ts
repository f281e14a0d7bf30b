import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { preCheckNode } from '../rollouts/pre-check-node.ts';
import { loadQuorum } from './load-quorum.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

const RULE = { limit: { numerator: 1n, denominator: 3n }, nodeTypes: ['validator'] };

it('sums what is down, by hand before metrics, and takes the total that was told last', async () => {
  const { db } = database;
  const now = Date.now();
  const told = (power: number, chain: number, ago: number) => ({
    voting_power: power,
    chain_power: chain,
    voting_power_at: new Date(now - ago),
  });
  await insertNode(db, { name: 'up', ...told(10, 90, 60_000) });
  await insertNode(db, { name: 'dead', state: 'down', ...told(20, 80, 3_600_000) });
  await insertNode(db, { name: 'by-hand', state: 'syncing', labels: { voting_power: '7' }, ...told(1, 100, 1_000) });
  await insertNode(db, { name: 'stale', state: 'down', ...told(5, 50, 25 * 3_600_000) });
  await insertNode(db, { name: 'full', node_type: 'full', state: 'down' });
  await insertNode(db, { name: 'gone', state: 'terminated', ...told(50, 90, 1_000) });
  await insertNode(db, { name: 'elsewhere', chain_profile_id: 'other', state: 'down', ...told(50, 90, 1_000) });
  expect(await loadQuorum(db, 'testchain', RULE, new Date())).toEqual({
    ...RULE,
    chain: 'testchain',
    total: 100n,
    down: 27n,
    names: ['by-hand', 'dead'],
    unknown: ['stale'],
  });
  expect(await loadQuorum(db, 'nobody', RULE, new Date())).toMatchObject({ total: null, down: 0n });
});

it('of four validators that begin at the same moment one does: the chain has one lock (field-case 101)', async () => {
  const { db } = database;
  const rolloutId = await insertRollout(db, {
    chain_profile_id: 'four',
    status: 'running',
    strategy: 'all_at_once',
    targets_resolved_at: new Date(),
  });
  const nodes: string[] = [];
  for (let i = 0; i < 4; i++) {
    nodes.push(await insertNode(db, { chain_profile_id: 'four', labels: { voting_power: '10' } }));
  }
  for (const nodeId of nodes) await insertRolloutNode(db, rolloutId, nodeId, { offered_at: new Date() });
  const chains = {
    runtime: async () => null,
    maxBlockIntervalMs: async () => null,
    heightMetric: async () => null,
    stableMs: async () => null,
    trustRules: async () => null,
    quorum: async () => RULE,
  };
  const sources = { chains, renderConfigs: async () => new Map() };
  const answers = await Promise.all(
    nodes.map((nodeId) => preCheckNode(db, sources, { rolloutId, nodeId, attempt: 1 })),
  );
  expect(answers.filter(({ kind }) => kind === 'go')).toHaveLength(1);
});
