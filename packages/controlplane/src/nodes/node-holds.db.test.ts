import type { Page } from '@hoodcloud/contracts/http/common';
import type { NodeDetail } from '@hoodcloud/contracts/http/nodes';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { checksumOf, insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
});
afterAll(() => api.dispose());

const node = async (id: string) => (await api.call<NodeDetail>('GET', `/nodes/${id}`)).body;

async function wakes(rolloutId: string): Promise<number> {
  const { rows } = await api.database.pool.query('select from engine_messages where workflow_id like $1', [
    `%${rolloutId}%`,
  ]);
  return rows.length;
}

describe('a hold', () => {
  it('keeps the row waiting with who, why and until when, and a release wakes its rollout', async () => {
    const { db } = api.database;
    const id = await insertNode(db, { name: 'val-1' });
    const rolloutId = await insertRollout(db, { status: 'running', targets_resolved_at: new Date() });
    await insertRolloutNode(db, rolloutId, id);
    const held = await api.call<NodeDetail>('POST', `/nodes/${id}/hold`, { reason: 'disk', expires_in_seconds: 3600 });
    expect(held.body.holds).toMatchObject([{ kind: 'hold', actor: 'key:test', reason: 'disk', version: null }]);
    const { body } = await api.call<Page<RolloutNodeView>>('GET', `/rollouts/${rolloutId}/nodes`);
    expect(body.items[0]?.why).toMatchObject([{ code: 'node_held', params: { node: 'val-1', actor: 'key:test' } }]);
    expect((await node(id)).why.map(({ code }) => code)).toEqual(['node_held']);
    const before = await wakes(rolloutId);
    await api.call('POST', `/nodes/${id}/release`, {});
    expect(await wakes(rolloutId)).toBe(before + 1);
    expect((await node(id)).holds).toEqual([]);
    expect((await node(id)).why.map(({ code }) => code)).not.toContain('node_held');
  });

  it('ends by itself: what has expired is shown nowhere', async () => {
    const { db, pool } = api.database;
    const id = await insertNode(db);
    await api.call('POST', `/nodes/${id}/hold`, { reason: 'disk', expires_in_seconds: 60 });
    expect((await node(id)).why.map(({ code }) => code)).toEqual(['not_in_rollout', 'node_held']);
    await pool.query(`update node_holds set expires_at = now() - interval '1 second' where node_id = $1`, [id]);
    expect(await node(id)).toMatchObject({ holds: [], why: [{ code: 'not_in_rollout' }] });
  });

  it.each([{}, { reason: 'disk' }, { reason: 'disk', expires_in_seconds: 5 }])('is refused as %j', async (body) => {
    const id = await insertNode(api.database.db);
    expect((await api.call<Problem>('POST', `/nodes/${id}/hold`, body)).status).toBe(400);
    expect((await node(id)).holds).toEqual([]);
  });
});

describe('in plans', () => {
  const chain = { chain_profile_id: 'pinned' };
  const wanted = (target_version: string) => ({
    ...chain,
    node_type: 'validator',
    binary_name: 'cometbft',
    source_version: 'v0.9.0',
    target_version,
    target_binary_url: 'https://example.invalid/cometbft',
    target_binary_checksum: checksumOf('e'),
    manifest_content_hash: checksumOf('f'),
    strategy: 'rolling',
  });
  const plan = async (version: string) =>
    (await api.call<RolloutPlanView>('POST', '/rollouts/plan', wanted(version))).body;

  it('a pin leaves the node out of plans to another version, and not of one to its own', async () => {
    await api.writeConfig('pinned/profile.yaml', TEST_PROFILE.replaceAll('testchain', 'pinned'));
    const id = await insertNode(api.database.db, { ...chain, name: 'kept', version: 'v1.0.0' });
    await insertNode(api.database.db, { ...chain, name: 'free' });
    const { body } = await api.call<NodeDetail>('POST', `/nodes/${id}/pin`, { reason: 'audit' });
    expect(body.holds).toMatchObject([
      { kind: 'pin', binary_name: 'cometbft', version: 'v1.0.0', reason: 'audit', expires_at: null },
    ]);
    const other = await plan('v2.0.0');
    expect(other.ineligible).toMatchObject([
      { node_name: 'kept', reason: { code: 'node_pinned', params: { version: 'v1.0.0', why: 'audit' } } },
    ]);
    expect(other.batches.flatMap(({ nodes }) => nodes.map(({ node_name }) => node_name))).toEqual(['free']);
    expect((await plan('v1.0.0')).ineligible).toEqual([]);
  });

  it('a held node keeps its place, and the plan says that its turn waits', async () => {
    await api.writeConfig('held/profile.yaml', TEST_PROFILE.replaceAll('testchain', 'held'));
    const id = await insertNode(api.database.db, { chain_profile_id: 'held', name: 'val-held' });
    await api.call('POST', `/nodes/${id}/hold`, { reason: 'disk', expires_in_seconds: 3600 });
    const { body } = await api.call<RolloutPlanView>('POST', '/rollouts/plan', {
      ...wanted('v2.0.0'),
      chain_profile_id: 'held',
    });
    expect(body.batches[0]?.nodes).toMatchObject([{ node_name: 'val-held' }]);
    expect(body.warnings).toContainEqual(expect.stringMatching(/^val-held is held by key:test until 2.*Z: disk/));
  });

  it('a pin is refused for a component that the node does not have, and where nobody knows what runs', async () => {
    const id = await insertNode(api.database.db);
    const none = await api.call<Problem>('POST', `/nodes/${id}/pin`, { reason: 'audit', binary_name: 'geth' });
    expect(none.body).toMatchObject({ code: 'unknown_binary', detail: expect.stringContaining('cometbft') });
    await api.database.pool.query('update node_config_state set binary_version = null where node_id = $1', [id]);
    const unnamed = await api.call<Problem>('POST', `/nodes/${id}/pin`, { reason: 'audit' });
    expect(unnamed.body).toMatchObject({ status: 422, code: 'version_unknown' });
  });
});
