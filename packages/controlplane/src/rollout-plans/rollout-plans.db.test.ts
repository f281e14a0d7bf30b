import { createHash } from 'node:crypto';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { SavedPlanDetail, SavedPlanView } from '@hoodcloud/contracts/http/rollout-plans';
import type { CreateRolloutInput } from '@hoodcloud/contracts/http/rollout-requests';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { checksumOf, insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GoTemplateRenderer } from '../config-rendering/go-template-renderer.ts';
import { renderForNodes } from '../config-rendering/render-for-nodes.ts';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { ChainFiles } from '../manifests/chain-files.ts';
import { resolveTargets } from '../rollouts/resolve-targets.ts';
import { planExpiry } from './plan-expiry.ts';

const MANIFEST = `upgrade_id: v2
chain_profile_id: testchain
node_type: validator
binary_name: cometbft
target_version: v2.0.0
target_url: https://example.org/v2.0.0
target_checksum: ${checksumOf('b')}
config_changes: [{ path: /etc/c.toml, template: c.tmpl }]
`;
const REQUEST: CreateRolloutInput = {
  chain_profile_id: 'testchain',
  node_type: 'validator',
  upgrade_id: 'v2',
  strategy: 'canary',
  canary_size: 2,
  batch_size: 2,
};

let api: ApiFixture;
let first: string;
beforeAll(async () => {
  api = await ApiFixture.create();
});
beforeEach(async () => {
  await api.database.pool.query(
    'truncate active_chains, rollout_plans, idempotency_keys; delete from rollout_nodes; delete from rollout_controls; delete from rollouts; delete from events; delete from nodes',
  );
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
  await api.writeConfig('testchain/templates/c.tmpl', 'peers = {{ .max_peers }}\n');
  await api.writeConfig('upgrades/testchain/v2.yaml', MANIFEST);
  first = await insertNode(api.database.db, { name: 'val-1' });
  for (const name of ['val-2', 'val-3', 'val-4', 'val-5']) await insertNode(api.database.db, { name });
});
afterAll(() => api.dispose());

async function save(request: object = REQUEST, more = {}): Promise<SavedPlanDetail> {
  const { status, body } = await api.call<SavedPlanDetail>('POST', '/rollout-plans', { request, ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
const start = <Body = Problem>(id: string, headers = {}, query = '') =>
  api.call<Body>('POST', `/rollout-plans/${id}/start${query}`, { reason: 'tonight' }, headers);
const sentences = ({ errors }: Problem) => errors?.map(({ message }) => message);

async function rollouts(): Promise<number> {
  return (await api.database.db.selectFrom('rollouts').select('id').execute()).length;
}

describe('a saved plan', () => {
  it('is shown with who saved it, how long it holds and what it says', async () => {
    const plan = await save(REQUEST, { reason: 'for the board', valid_for_ms: 3_600_000 });
    expect(plan).toMatchObject({
      state: 'saved',
      saved_by: 'key:test',
      reason: 'for the board',
      nodes: 5,
      target_version: 'v2.0.0',
      rollout_id: null,
      differences: [],
    });
    expect(Date.parse(plan.expires_at) - Date.parse(plan.created_at)).toBe(3_600_000);
    const { body: list } = await api.call<Page<SavedPlanView>>('GET', '/rollout-plans?state=saved');
    expect(list.items.map(({ id }) => id)).toEqual([plan.id]);
    expect((await api.call<Page<SavedPlanView>>('GET', '/rollout-plans?state=started')).body.items).toEqual([]);
    expect((await api.call<SavedPlanDetail>('GET', `/rollout-plans/${plan.id}`)).body).toEqual(plan);
    expect(await rollouts()).toBe(0);
  });

  it('starts a rollout when nothing has changed, once; who did both is in the history', async () => {
    const plan = await save();
    const { status, body } = await start<RolloutDetail>(plan.id);
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({ target_version: 'v2.0.0', created_by: 'key:test' });
    const controls = await api.database.db.selectFrom('rollout_controls').select(['kind', 'reason']).execute();
    expect(controls).toEqual([{ kind: 'start', reason: 'tonight' }]);
    const { body: after } = await api.call<SavedPlanDetail>('GET', `/rollout-plans/${plan.id}`);
    expect(after).toMatchObject({ state: 'started', started_by: 'key:test', rollout_id: body.id, differences: [] });
    const events = await api.database.db.selectFrom('events').select(['kind', 'actor']).orderBy('id').execute();
    expect(events.map(({ kind }) => kind)).toEqual([
      'rollout_plan_saved',
      'rollout_created',
      'rollout_control_ordered',
      'rollout_started',
      'rollout_plan_started',
    ]);
    const again = await start(plan.id);
    expect(again).toMatchObject({ status: 409, body: { code: 'plan_started', details: { rollout_id: body.id } } });
    expect(await rollouts()).toBe(1);
  });

  it('upgrades the very canaries that it showed', async () => {
    const plan = await save();
    const { body } = await start<RolloutDetail>(plan.id);
    const chains = new ChainFiles(() => api.configDir);
    const { db } = api.database;
    const renderer = new GoTemplateRenderer();
    await resolveTargets(db, { chains, renderConfigs: renderForNodes(db, renderer) }, body.id);
    await renderer.close();
    const rows = await db
      .selectFrom('rollout_nodes')
      .select(['node_id', 'batch_index'])
      .where('rollout_id', '=', body.id)
      .execute();
    const shown = plan.plan.batches.flatMap(({ index, nodes }) =>
      nodes.map(({ node_id }) => ({ node_id, batch_index: index })),
    );
    const byId = (one: { node_id: string }, other: { node_id: string }) => one.node_id.localeCompare(other.node_id);
    expect(rows.sort(byId)).toEqual(shown.sort(byId));
    expect(plan.plan.warnings.join()).not.toContain('at random');
  });

  it('is started once by two persons at the same moment', async () => {
    const plan = await save();
    const answers = await Promise.all([start(plan.id), start(plan.id), start(plan.id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(await rollouts()).toBe(1);
  });

  it('is saved and started once by an Idempotency-Key, and changes nothing in a dry run', async () => {
    const headers = { 'idempotency-key': 'one' };
    const body = { request: REQUEST };
    const { body: plan } = await api.call<SavedPlanDetail>('POST', '/rollout-plans', body, headers);
    const { body: same } = await api.call<SavedPlanDetail>('POST', '/rollout-plans', body, headers);
    expect(same.id).toBe(plan.id);
    expect((await start(plan.id, {}, '?dry_run=true')).status).toBe(200);
    expect(await rollouts()).toBe(0);
    const begun = await start<RolloutDetail>(plan.id, { 'idempotency-key': 'two' });
    expect(await start(plan.id, { 'idempotency-key': 'two' })).toMatchObject({
      status: 201,
      body: { id: begun.body.id },
    });
  });
});

describe('a plan whose world has changed is not started, and every difference is told', () => {
  const setFirst = (table: 'nodes' | 'node_components' | 'node_config_state', column: string, value: unknown) => {
    const id = table === 'nodes' ? 'id' : 'node_id';
    return api.database.pool.query(`update ${table} set ${column} = $1 where ${id} = $2`, [value, first]);
  };

  it.each<[string, () => Promise<unknown>, (string | RegExp)[]]>([
    [
      'the manifest',
      () =>
        api.writeConfig(
          'upgrades/testchain/v2.yaml',
          MANIFEST.replace('target_version: v2.0.0', 'target_version: v2.0.1'),
        ),
      [/^manifest_content_hash was sha256:.* and is sha256:.* now\.$/, 'target_version was v2.0.0 and is v2.0.1 now.'],
    ],
    [
      'the manifest, which is gone',
      () => api.writeConfig('upgrades/testchain/v2.yaml', 'upgrade_id: [\n'),
      [/v2\.yaml/],
    ],
    [
      "the chain's profile",
      () =>
        api.writeConfig(
          'testchain/profile.yaml',
          TEST_PROFILE.replace('health_wait_seconds: 7', 'health_wait_seconds: 9'),
        ),
      ['health_wait_ms was 7000 and is 9000 now.'],
    ],
    [
      'a template',
      () => api.writeConfig('testchain/templates/c.tmpl', 'peers = {{ .max_peers }} # more\n'),
      ['val-1', 'val-2', 'val-3', 'val-4', 'val-5'].map((name) => `/etc/c.toml would be written otherwise on ${name}.`),
    ],
    [
      'a variable of a node',
      () => setFirst('nodes', 'variables', JSON.stringify({ max_peers: '99' })),
      ['/etc/c.toml would be written otherwise on val-1.'],
    ],
    [
      'a version',
      () => setFirst('node_config_state', 'binary_version', 'v1.5.0'),
      ['val-1 had v1.0.0 and has v1.5.0 now.'],
    ],
    [
      'what runs',
      () => setFirst('node_components', 'running_checksum', checksumOf('e')),
      [/^val-1 runs another program than then/],
    ],
    [
      'a config edited on its host',
      () => setFirst('node_components', 'config_checksums', JSON.stringify({ '/etc/c.toml': checksumOf('e') })),
      ['/etc/c.toml was changed on val-1 since.'],
    ],
    [
      'who is there',
      () => setFirst('nodes', 'last_heartbeat_at', new Date(0)),
      [
        'val-1 was to be upgraded and would be left out now: The agent of val-1 is offline since 1970-01-01T00:00:00.000Z.',
      ],
    ],
    [
      'a node that came',
      () => insertNode(api.database.db, { name: 'val-6' }),
      ['val-6 has come since and is not in the plan.'],
    ],
    [
      'a node that went',
      () => setFirst('nodes', 'state', 'terminated'),
      ['val-1 is gone, or not of this chain and type any more.'],
    ],
  ])('%s', async (_, change, told) => {
    const plan = await save();
    await change();
    const { status, body } = await start(plan.id);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'plan_changed' });
    const found = sentences(body) ?? [];
    expect(found).toHaveLength(told.length);
    for (const [index, one] of told.entries()) expect(found[index]).toMatch(typeof one === 'string' ? exact(one) : one);
    expect(await rollouts()).toBe(0);
    const { body: shown } = await api.call<SavedPlanDetail>('GET', `/rollout-plans/${plan.id}`);
    expect(shown.differences).toEqual(body.errors);
  });

  it('and may be started once everything is as it was again', async () => {
    const plan = await save();
    await api.writeConfig('testchain/templates/c.tmpl', 'other\n');
    expect((await start(plan.id)).status).toBe(409);
    await api.writeConfig('testchain/templates/c.tmpl', 'peers = {{ .max_peers }}\n');
    expect((await start(plan.id)).status).toBe(201);
  });
});

describe('a plan is refused', () => {
  it('after its time, by a sentence that says when that was; a month later it is forgotten', async () => {
    const plan = await save();
    const set = (past: string) =>
      api.database.pool.query(`update rollout_plans set expires_at = now() - interval '${past}'`);
    await set('1 second');
    const { status, body } = await start(plan.id);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'plan_expired' });
    const reconciler = planExpiry(api.database.db);
    expect(await reconciler.run(new Date())).toBe(0);
    await set('31 days');
    expect(await reconciler.run(new Date())).toBe(1);
  });

  it('when it breaks a rule, before it is saved; but a chain that is taken now may be free then (rule 5)', async () => {
    const broken = await api.call<Problem>('POST', '/rollout-plans', { request: { ...REQUEST, node_type: 'full' } });
    expect(broken).toMatchObject({ status: 422, body: { code: 'rollout_rules' } });
    const { body: other } = await api.call<RolloutDetail>('POST', '/rollouts', REQUEST);
    const plan = await save();
    expect(plan.plan.violations).toMatchObject([{ rule: 5 }]);
    expect(await start(plan.id)).toMatchObject({
      status: 409,
      body: { code: 'rollout_active', details: { rollout_id: other.id } },
    });
  });

  it('when there is none', async () => {
    expect(await start(first)).toMatchObject({ status: 404, body: { code: 'rollout_plan_not_found' } });
  });
});

it('no secret of a config is in a saved plan', async () => {
  await api.writeConfig('testchain/templates/c.tmpl', 'auth = {{ .rpc_password }}\n');
  const secret = createHash('sha256').update('x').digest('hex');
  await api.database.pool.query('update nodes set variables = $1', [JSON.stringify({ rpc_password: secret })]);
  const { id } = await save();
  const { rows } = await api.database.pool.query(
    'select row_to_json(p)::text as text from rollout_plans p where id = $1',
    [id],
  );
  expect(rows[0].text).toContain('<secret rpc_password>');
  expect(rows[0].text).not.toContain(secret);
});

/** A pattern for exactly this text. */
function exact(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${'$'}{}()|[\]\\]/g, '\\$&')}$`);
}
