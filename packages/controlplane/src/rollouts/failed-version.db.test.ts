import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import type { NodeUpgradeStatus } from '@hoodcloud/domain/node-upgrade-status';
import { reason } from '@hoodcloud/domain/reasons';
import { checksumOf, insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { ChainFiles } from '../manifests/chain-files.ts';
import { resolveTargets } from './resolve-targets.ts';
import { transitionRolloutNode } from './rollout-node-transition.ts';

let api: ApiFixture;
const ids: Record<string, string> = {};
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
  for (const name of ['val-0', 'val-1']) ids[name] = await insertNode(api.database.db, { name });
});
beforeEach(() => api.database.pool.query('truncate active_chains; delete from rollouts'));
afterAll(() => api.dispose());

type Step = NodeUpgradeStatus | 'rollback';

/** An earlier, ended rollout in which val-0 went this way; `rollback` turns it back by hand. @returns its id */
async function earlier(way: readonly Step[], rollout: object = {}, row: object = {}): Promise<string> {
  const { db } = api.database;
  const rolloutId = await insertRollout(db, { status: 'completed', ...rollout });
  const nodeId = ids['val-0'] ?? '';
  await insertRolloutNode(db, rolloutId, nodeId, { previous_version: 'v1.0.0', ...row });
  let from: NodeUpgradeStatus = 'pending';
  for (const step of way) {
    if (step === 'rollback') {
      await db
        .updateTable('rollout_nodes')
        .set({ attempt_direction: 'rollback' })
        .where('rollout_id', '=', rolloutId)
        .execute();
      continue;
    }
    const said = { reason: reason('node_down', { state: 'down' }), actor: 'system:test' };
    expect(await transitionRolloutNode(db, { rolloutId, nodeId, from, to: step, ...said })).toBe(true);
    from = step;
  }
  return rolloutId;
}

const request = (differs: object = {}) => ({
  chain_profile_id: 'testchain',
  node_type: 'validator',
  binary_name: 'cometbft',
  source_version: 'v1.0.0',
  target_version: 'v2.0.0',
  target_binary_url: 'https://example.invalid/v2',
  target_binary_checksum: checksumOf('e'),
  manifest_content_hash: checksumOf('f'),
  strategy: 'rolling',
  ...differs,
});

/** Names of the nodes that a plan takes, and why it leaves the others out. */
async function planned(differs: object = {}): Promise<{ taken: string[]; out: Record<string, string> }> {
  const { body } = await api.call<RolloutPlanView>('POST', '/rollouts/plan', request(differs));
  const taken = body.batches.flatMap(({ nodes }) => nodes.map(({ node_name }) => node_name)).sort();
  return { taken, out: Object.fromEntries(body.ineligible.map((one) => [one.node_name, one.reason.sentence])) };
}

it('a node that failed the version is left out of a new rollout to it: plan and rollout say since which one', async () => {
  const before = await earlier(['in_progress', 'rolled_back']);
  const { taken, out } = await planned();
  expect(taken).toEqual(['val-1']);
  expect(Object.keys(out)).toEqual(['val-0']);
  expect(out['val-0']).toMatch(/^Its upgrade to v2\.0\.0 failed at 20\S+Z in rollout /);
  expect(out['val-0']).toContain(before);

  const { id } = (await api.call<RolloutDetail>('POST', '/rollouts', request())).body;
  const targets = { chains: new ChainFiles(() => api.configDir), renderConfigs: async () => new Map() };
  await resolveTargets(api.database.db, targets, id);
  const rows = (await api.call<{ items: RolloutNodeView[] }>('GET', `/rollouts/${id}/nodes`)).body.items;
  expect(rows.map(({ node_name, status }) => `${node_name} ${status}`).sort()).toEqual([
    'val-0 skipped',
    'val-1 pending',
  ]);
  expect(rows.find(({ node_name }) => node_name === 'val-0')?.status_reason).toMatchObject({
    code: 'failed_this_version',
    params: { version: 'v2.0.0', rollout: before },
  });
});

it('is offered it again by a rollout that was told to, which says so', async () => {
  await earlier(['in_progress', 'validating', 'failed']);
  expect((await planned()).taken).toEqual(['val-1']);
  expect((await planned({ retry_failed: true })).taken).toEqual(['val-0', 'val-1']);
  const { body } = await api.call<RolloutDetail>('POST', '/rollouts', request({ retry_failed: true }));
  expect(body.retry_failed).toBe(true);
});

it.each([
  ['another version', ['in_progress', 'failed'], { target_version: 'v1.9.0' }, {}],
  ['another component', ['in_progress', 'failed'], { binary_name: 'companion' }, {}],
  ['configs of a version that it had', ['in_progress', 'failed'], {}, { previous_version: 'v2.0.0' }],
  [
    'a way back that a person ordered',
    ['in_progress', 'validating', 'succeeded', 'rollback', 'in_progress', 'validating', 'rolled_back'],
    {},
    {},
  ],
  ['a way back that failed', ['in_progress', 'validating', 'succeeded', 'rollback', 'in_progress', 'failed'], {}, {}],
  ['a failure that a retry mended', ['in_progress', 'failed', 'in_progress', 'validating', 'succeeded'], {}, {}],
  ['a turn that never came', ['skipped'], {}, {}],
] as [string, Step[], object, object][])('%s is no failure of the version', async (_, way, rollout, row) => {
  await earlier(way, rollout, row);
  expect((await planned()).taken).toEqual(['val-0', 'val-1']);
});

it('a node that was on duty all the time has not failed the version: it was not even stopped', async () => {
  const id = await earlier(['in_progress', 'rolled_back']);
  expect((await planned()).taken).toEqual(['val-1']);
  const { db } = api.database;
  await db.updateTable('rollout_nodes').set({ error_code: 'still_on_duty' }).where('rollout_id', '=', id).execute();
  expect((await planned()).taken).toEqual(['val-0', 'val-1']);
});

it('a failure stays one when a person orders the way back afterwards', async () => {
  await earlier(['in_progress', 'failed', 'rollback', 'in_progress', 'validating', 'rolled_back']);
  expect((await planned()).taken).toEqual(['val-1']);
});

it('of several rollouts the latest counts', async () => {
  await earlier(['in_progress', 'failed']);
  await earlier(['in_progress', 'validating', 'succeeded']);
  expect((await planned()).taken).toEqual(['val-0', 'val-1']);
  const last = await earlier(['in_progress', 'rolled_back']);
  expect((await planned()).out['val-0']).toContain(last);
});
