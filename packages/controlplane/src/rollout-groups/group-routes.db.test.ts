import type { EventPage } from '@hoodcloud/contracts/http/events';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import type {
  CreateRolloutGroupInput,
  RolloutGroupDetail,
  RolloutGroupPlanView,
  RolloutGroupStatusView,
} from '@hoodcloud/contracts/http/rollout-groups';
import { insertGroupComponents } from '@hoodcloud/testkit/group-rows';
import { checksumOf, insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { appendEvent } from '../events/append-event.ts';
import { publishEvents } from '../events/event-relay.ts';
import { ApiFixture } from '../http/testing/api-fixture.ts';

const PROFILE = `chain_profile_id: twochain
node_types: [validator]
binaries:
  - name: execution
  - name: companion
health:
  healthy_expression: metrics.up == 1
  synced_expression: metrics.syncing == 0
  health_wait_seconds: 7
`;

const manifest = (binary: string) => `upgrade_id: ${binary}-v2
chain_profile_id: twochain
node_type: validator
binary_name: ${binary}
target_version: v2.0.0
target_url: https://example.org/${binary}
target_checksum: ${checksumOf('b')}
`;

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('twochain/profile.yaml', PROFILE);
  for (const binary of ['execution', 'companion']) {
    await api.writeConfig(`upgrades/twochain/${binary}-v2.yaml`, manifest(binary));
  }
  await insertGroupComponents(
    api.database.db,
    await insertNode(api.database.db, { chain_profile_id: 'twochain', runningChecksum: null }),
  );
});
afterAll(() => api.dispose());
beforeEach(async () => {
  const { db } = api.database;
  await db.deleteFrom('active_chains').execute();
  await db.deleteFrom('rollouts').execute();
  await db.deleteFrom('rollout_groups').execute();
});

const GROUP: CreateRolloutGroupInput = {
  chain_profile_id: 'twochain',
  node_type: 'validator',
  failure_policy: 'manual',
  strategy: 'rolling',
  batch_size: 3,
  desired_versions: { execution: 'v2.0.0', companion: 'v2.0.0' },
  component_order: [
    { binary_name: 'execution', upgrade_id: 'execution-v2' },
    { binary_name: 'companion', upgrade_id: 'companion-v2', batch_size: 1 },
  ],
};

type GroupAnswer = RolloutGroupDetail & Pick<Problem, 'errors' | 'code' | 'details'>;

const create = (differs: Partial<CreateRolloutGroupInput> = {}, headers: Record<string, string> = {}) =>
  api.call<GroupAnswer>('POST', '/rollout-groups', { ...GROUP, ...differs }, headers);
const codes = ({ body }: { body: Pick<Problem, 'errors'> }) => (body.errors ?? []).map(({ code }) => code);

describe('creation', () => {
  it('stores what each component becomes, and begins nothing', async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'pending', rollouts: [], legal_controls: ['start', 'cancel'] });
    expect(body.component_order).toMatchObject([
      { component_index: 0, binary_name: 'execution', upgrade_id: 'execution-v2', target_version: 'v2.0.0' },
      { component_index: 1, binary_name: 'companion', upgrade_id: 'companion-v2', target_version: 'v2.0.0' },
    ]);
  });

  it('rule 8: an order that contradicts component_index is refused', async () => {
    const [execution, companion] = GROUP.component_order;
    const component_order = [
      { ...execution, component_index: 1 },
      { ...companion, component_index: 1 },
    ] as CreateRolloutGroupInput['component_order'];
    const answer = await create({ component_order });
    expect(answer.status).toBe(422);
    expect(codes(answer)).toEqual(['component_order_mismatch', 'component_index_duplicate']);
  });

  it('rule 9: policy, versions and order must be there, all told at once', async () => {
    const { failure_policy: _, ...without } = GROUP;
    const answer = await api.call<Problem>('POST', '/rollout-groups', { ...without, desired_versions: {} });
    expect(answer.status).toBe(422);
    expect(codes(answer)).toEqual(expect.arrayContaining(['failure_policy_missing', 'desired_versions_empty']));
    const incomplete = await create({ component_order: GROUP.component_order.slice(0, 1) });
    expect(codes(incomplete)).toEqual(['component_order_incomplete']);
  });

  it('rule 9: a manifest that brings another version than is desired is refused', async () => {
    const answer = await create({ desired_versions: { execution: 'v3.0.0', companion: 'v2.0.0' } });
    expect(answer.body.errors).toMatchObject([
      { code: 'desired_version_mismatch', field: 'component_order.0.upgrade_id', rule: 9 },
    ]);
  });

  it('a group and a standalone rollout exclude each other on a chain (C2)', async () => {
    await insertRollout(api.database.db, { chain_profile_id: 'twochain', binary_name: 'execution' });
    expect(await create()).toMatchObject({ status: 409, body: { code: 'rollout_active' } });
    await api.database.db.deleteFrom('active_chains').execute();
    await api.database.db.deleteFrom('rollouts').execute();
    expect((await create()).status).toBe(201);
    const rollout = {
      chain_profile_id: 'twochain',
      node_type: 'validator',
      upgrade_id: 'execution-v2',
      strategy: 'rolling',
    };
    expect(await api.call('POST', '/rollouts', rollout)).toMatchObject({
      status: 409,
      body: { code: 'rollout_active' },
    });
    expect((await create()).status).toBe(409);
  });

  it('dry_run plans every component and creates nothing', async () => {
    const answer = await api.call<RolloutGroupPlanView>('POST', '/rollout-groups?dry_run=true', GROUP);
    expect(answer.status).toBe(200);
    expect(answer.body.violations).toEqual([]);
    expect(answer.body.components.map(({ plan }) => plan.batches.length)).toEqual([1, 1]);
    expect((await api.call<{ items: unknown[] }>('GET', '/rollout-groups')).body.items).toEqual([]);
  });

  it('the same Idempotency-Key creates it once', async () => {
    const first = await create({}, { 'idempotency-key': 'group-1' });
    const second = await create({}, { 'idempotency-key': 'group-1' });
    expect(second.body.id).toBe(first.body.id);
    expect(second.headers['idempotency-replayed']).toBe('true');
  });
});

describe('controls', () => {
  it('start makes it run and tells the engine; what is not legal now is a 409 with the reason', async () => {
    const { body: group } = await create();
    const order = (control: string, body: object = {}) =>
      api.call<GroupAnswer>('POST', `/rollout-groups/${group.id}/${control}`, body);
    expect(await order('resume')).toMatchObject({ status: 409, body: { code: 'control_refused' } });
    expect(await order('start?dry_run=true')).toMatchObject({ status: 200, body: { status: 'running' } });
    expect((await api.call<GroupAnswer>('GET', `/rollout-groups/${group.id}`)).body.status).toBe('pending');
    expect(await order('start')).toMatchObject({ status: 200, body: { status: 'running' } });
    expect(await order('rollback')).toMatchObject({
      status: 409,
      body: { details: { reason: 'nothing_to_roll_back' } },
    });
    expect(await order('skip', { component_index: 7 })).toMatchObject({ status: 409 });
    expect((await order('skip', { component_index: 1, reason: 'not today' })).status).toBe(200);
    const told = await api.database.db
      .selectFrom('engine_messages')
      .select(['workflow_id', 'signal'])
      .where('workflow_type', '=', 'RolloutGroupWorkflow')
      .orderBy('id')
      .execute();
    const workflow_id = `rollout-group-${group.id}`;
    expect(told).toEqual([
      { workflow_id, signal: 'wake' },
      { workflow_id, signal: 'skip' },
    ]);
    const status = await api.call<RolloutGroupStatusView>('GET', `/rollout-groups/${group.id}/status`);
    expect(status.body.components).toMatchObject([
      { binary_name: 'execution', status: null, skipped: false },
      { binary_name: 'companion', status: null, skipped: true },
    ]);
  });

  it('its events are its own and those of its components, and no others', async () => {
    const { db } = api.database;
    const { body: group } = await create();
    const of = { chain_profile_id: 'twochain', group_id: group.id, component_index: 0 };
    const component = await insertRollout(db, { ...of, status: 'completed' });
    const stranger = await insertRollout(db, { chain_profile_id: 'twochain', status: 'completed' });
    for (const rolloutId of [component, stranger]) {
      const subject = { subjectType: 'rollout', subjectId: rolloutId, rolloutId } as const;
      await appendEvent(db, { kind: 'rollout_paused', ...subject, actor: 'key:test' });
    }
    await publishEvents(db);
    const { body } = await api.call<EventPage>('GET', `/rollout-groups/${group.id}/events`);
    expect(body.items.map(({ kind, subject_id }) => [kind, subject_id])).toEqual([
      ['group_created', group.id],
      ['rollout_paused', component],
    ]);
  });

  it('start of a group for a chain without nodes is refused at once (field-case 83)', async () => {
    const { db } = api.database;
    const { body: group } = await create();
    await db.updateTable('nodes').set({ state: 'terminated' }).execute();
    const refused = await api.call<GroupAnswer>('POST', `/rollout-groups/${group.id}/start`, {});
    await db.updateTable('nodes').set({ state: 'healthy' }).execute();
    expect(refused).toMatchObject({ status: 422, body: { code: 'no_eligible_targets' } });
  });

  it('an unknown group is a 404 everywhere', async () => {
    const id = '5f0c8d1e-4f7b-4c56-9a68-0b5c0f8a9d11';
    for (const path of ['', '/status', '/events'].map((end) => `/rollout-groups/${id}${end}`)) {
      expect(await api.call('GET', path)).toMatchObject({ status: 404, body: { code: 'rollout_group_not_found' } });
    }
    expect((await api.call('POST', `/rollout-groups/${id}/cancel`, {})).status).toBe(404);
  });
});

describe('where two operators may collide', () => {
  it('the second of two operators is refused when the group changed since they looked (If-Match)', async () => {
    const { body: group } = await create();
    const path = `/rollout-groups/${group.id}`;
    const match = { 'if-match': String((await api.call('GET', path)).headers.etag) };
    const first = await api.call('POST', `${path}/start`, {}, match);
    expect(first.status).toBe(200);
    const second = await api.call<GroupAnswer>('POST', `${path}/cancel`, {}, match);
    expect(second).toMatchObject({
      status: 412,
      body: { code: 'changed_meanwhile', details: { etag: first.headers.etag } },
    });
    expect((await api.call('POST', `${path}/pause`, {}, { 'if-match': String(first.headers.etag) })).status).toBe(200);
  });
});
