import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { checksumOf, insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { ChainFiles } from '../manifests/chain-files.ts';
import { resolveTargets } from './resolve-targets.ts';

let api: ApiFixture;
const ids: Record<string, string> = {};
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
  for (const [index, zone] of ['eu', 'eu', 'eu', 'us', 'us', 'asia'].entries()) {
    const name = `val-${index}`;
    ids[name] = await insertNode(api.database.db, { name, labels: JSON.stringify({ zone }) });
  }
});
beforeEach(() => api.database.pool.query('truncate active_chains; delete from rollouts'));
afterAll(() => api.dispose());

const zone = (value: string) => ({ labels: { zone: value } });
const wanted = <Differs extends object>(differs: Differs) => ({
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

const shown = ({ batches }: RolloutPlanView) =>
  batches.map(
    ({ of, nodes }) =>
      `${of}: ${nodes
        .map(({ node_name }) => node_name)
        .sort()
        .join(' ')}`,
  );

it('plans batches as they are named, says what comes last and what takes nobody, and resolves the same', async () => {
  const request = wanted({
    batches: [{ selector: zone('asia') }, { selector: zone('moon') }, { selector: zone('eu'), percent: 50 }],
    ramp: { start: 1, factor: 2 },
  });
  const plan = (await api.call<RolloutPlanView>('POST', '/rollouts/plan', request)).body;
  expect(plan.violations).toEqual([]);
  expect(plan.warnings).toContain('batches.1 (zone=moon) takes no node: none that can be upgraded fits and is left.');
  expect(plan.warnings).toContain('3 nodes that no batch names come last.');
  expect(plan.batches.map(({ of, nodes }) => `${of}: ${nodes.length}`)).toEqual([
    'zone=asia: 1',
    'zone=eu, 50 %: 2',
    'what no batch names: 1',
    'what no batch names: 2',
  ]);
  const created = (await api.call<RolloutDetail>('POST', '/rollouts', request)).body;
  expect(created.batch_order).toEqual({ batches: request.batches, ramp: request.ramp });
  const chains = new ChainFiles(() => api.configDir);
  const targets = { chains, renderConfigs: async () => new Map() };
  await resolveTargets(api.database.db, targets, created.id);
  const rows = await api.database.db
    .selectFrom('rollout_nodes')
    .innerJoin('nodes', 'nodes.id', 'rollout_nodes.node_id')
    .select(['batch_index', 'name'])
    .where('rollout_id', '=', created.id)
    .execute();
  for (const { index, nodes } of plan.batches) {
    const names = rows.filter(({ batch_index }) => batch_index === index).map(({ name }) => name);
    expect(names.sort()).toEqual(nodes.map(({ node_name }) => node_name).sort());
  }
});

it('takes exactly the canaries that are named', async () => {
  const request = wanted({ strategy: 'canary', batch_size: 9, canary_node_ids: [ids['val-3'], ids['val-5']] });
  const plan = (await api.call<RolloutPlanView>('POST', '/rollouts/plan', request)).body;
  expect(plan.warnings.join()).not.toContain('drawn at random');
  expect(shown(plan)).toEqual(['null: val-3 val-5', 'null: val-0 val-1 val-2 val-4']);
});

it.each([
  ['canary_node_ids.0', { strategy: 'canary', canary_node_ids: ['11111111-1111-4111-8111-111111111111'] }],
  ['canary_selector', { strategy: 'canary', canary_selector: zone('moon') }],
  ['canary_selector', { canary_selector: zone('eu') }],
  ['ramp', { batch_size: 5, ramp: {} }],
  ['batches.0.percent', { batches: [{ selector: {}, count: 1, percent: 1 }] }],
])('refuses a part that can not be by its field %s (field-case 88)', async (field, differs) => {
  const { status, body } = await api.call<Problem>('POST', '/rollouts', wanted(differs));
  expect({ status, fields: body.errors?.map((error) => error.field) }).toEqual({ status: 422, fields: [field] });
});

it('refuses a canary that can not be upgraded, and says why', async () => {
  const pinned = await insertNode(api.database.db, { name: 'kept' });
  await api.call('POST', `/nodes/${pinned}/pin`, { reason: 'audit' });
  const request = wanted({ strategy: 'canary', canary_node_ids: [pinned] });
  const { body } = await api.call<Problem>('POST', '/rollouts', request);
  expect(body.errors).toMatchObject([{ field: 'canary_node_ids.0', code: 'canary_ineligible' }]);
  expect(body.errors?.[0]?.message).toMatch(/^kept can't be a canary: Pinned to v1.0.0 by key:test/);
});
