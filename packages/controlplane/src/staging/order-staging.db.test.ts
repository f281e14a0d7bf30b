import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import { checksumOf, insertNode, insertPolicy, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { ChainFiles } from '../manifests/chain-files.ts';
import { orderStaging } from './order-staging.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: process }\n');
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
});
beforeEach(() => api.database.pool.query('truncate rollouts, rollout_nodes, agent_commands, active_chains cascade'));
afterAll(() => api.dispose());

const ignored = () => undefined;
const log = { info: ignored, warn: ignored, error: ignored };
const sources = () => ({ chains: new ChainFiles(() => api.configDir), renderConfigs: async () => new Map() });
const look = () => orderStaging(api.database.db, sources(), log, new Date());

/** What the latest command of a node says. */
async function told(nodeId: string) {
  const command = await api.database.db
    .selectFrom('agent_commands')
    .select('payload')
    .where('node_id', '=', nodeId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  return decodeUpgradePayload(command.payload);
}

it('a node that makes ready ahead is told what it downloads, and its checksum', async () => {
  const { db } = api.database;
  const id = await insertRollout(db, { status: 'running', targets_resolved_at: new Date(), stage: true });
  const nodeId = await insertNode(db);
  await insertRolloutNode(db, id, nodeId, { previous_version: 'v1.0.0' });
  expect(await look()).toBe(1);
  const { artifact } = await told(nodeId);
  expect(artifact).toMatchObject({ url: 'https://example.org/v2.0.0', checksum: checksumOf('b') });
});

/** A running rollout that agents carry out at height 500, one node in it, of which nothing was told yet. */
async function activated(): Promise<string> {
  const { db } = api.database;
  const rolloutId = await insertRollout(db, {
    status: 'running',
    targets_resolved_at: new Date(),
    stage: true,
    start_at_height: 500,
    activation: 'height',
    strategy: 'all_at_once',
  });
  const nodeId = await insertNode(db, { last_heartbeat_at: new Date() });
  await insertRolloutNode(db, rolloutId, nodeId, { previous_version: 'v1.0.0' });
  return nodeId;
}

it('an armed node is told when its order lapses, a held one is disarmed and armed again when the hold is over', async () => {
  const { db } = api.database;
  const nodeId = await activated();
  await look();
  expect((await told(nodeId)).activation).toMatchObject({ height: 500n, lapseAfterSeconds: 86_400 });
  const hold = {
    node_id: nodeId,
    kind: 'hold',
    actor: 'key:test',
    reason: 'its disk is looked at',
    expires_at: new Date(Date.now() + 3_600_000),
  } as const;
  await db.insertInto('node_holds').values(hold).execute();
  await look();
  expect((await told(nodeId)).activation).toBeUndefined();
  await db.deleteFrom('node_holds').where('node_id', '=', nodeId).execute();
  await look();
  expect((await told(nodeId)).activation).toMatchObject({ height: 500n });
});

it('a freeze disarms every node that it covers', async () => {
  const nodeId = await activated();
  await look();
  expect((await told(nodeId)).activation).toBeDefined();
  const [from, to] = [-60_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
  await insertPolicy(api.database.db, 'freeze', 'payout', { from, to, reason: 'payouts' });
  await look();
  expect((await told(nodeId)).activation).toBeUndefined();
});
