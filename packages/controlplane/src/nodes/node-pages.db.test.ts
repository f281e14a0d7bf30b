import type { Page } from '@hoodcloud/contracts/http/common';
import type { FleetSummary, NodeUpgradeView, NodeView } from '@hoodcloud/contracts/http/nodes';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { json } from '../db/json.ts';
import { ApiFixture } from '../http/testing/api-fixture.ts';

let api: ApiFixture;
let nodeId: string;
beforeAll(async () => {
  api = await ApiFixture.create();
  const { db } = api.database;
  const labels = json({ zone: 'eu' });
  nodeId = await insertNode(db, { chain_profile_id: 'alpha', labels });
  await insertNode(db, {
    chain_profile_id: 'alpha',
    labels,
    state: 'down',
    version: 'v2.0.0',
    last_heartbeat_at: null,
  });
  await insertNode(db, { chain_profile_id: 'beta' });
});
afterAll(() => api.dispose());

const get = async <Body>(path: string) => (await api.call<Body>('GET', path)).body;

it('the fleet is counted by chain, state, zone and version, and who is offline', async () => {
  const { chains, states, zones, versions, ...all } = await get<FleetSummary>('/nodes/summary');
  expect(all).toEqual({ nodes: 3, online: 2 });
  expect(chains).toEqual([
    { chain_profile_id: 'alpha', nodes: 2, online: 1 },
    { chain_profile_id: 'beta', nodes: 1, online: 1 },
  ]);
  expect(states).toEqual([
    { state: 'healthy', nodes: 2 },
    { state: 'down', nodes: 1 },
  ]);
  expect(zones).toEqual([
    { zone: 'eu', nodes: 2, online: 1 },
    { zone: null, nodes: 1, online: 1 },
  ]);
  expect(versions.filter(({ chain_profile_id }) => chain_profile_id === 'alpha').map(({ version }) => version)).toEqual(
    ['v1.0.0', 'v2.0.0'],
  );
});

it('one chain is counted alone, and a chain that is nowhere is none', async () => {
  expect(await get<FleetSummary>('/nodes/summary?chain_profile_id=beta')).toMatchObject({
    nodes: 1,
    zones: [{ zone: null }],
  });
  expect(await get<FleetSummary>('/nodes/summary?chain_profile_id=nowhere')).toMatchObject({
    nodes: 0,
    chains: [],
    versions: [],
  });
});

it('nodes are found by zone', async () => {
  expect((await get<Page<NodeView>>('/nodes?zone=eu')).items).toHaveLength(2);
  expect((await get<Page<NodeView>>('/nodes?zone=us')).items).toEqual([]);
});

it('a config file that is not as the last rollout wrote it is drift (E4)', async () => {
  const { db } = api.database;
  const hashes = (found: object) => json(found);
  await db
    .updateTable('node_config_state')
    .set({ config_hashes: hashes({ '/a': 'x', '/b': 'x', '/c': 'x' }) })
    .where('node_id', '=', nodeId)
    .execute();
  await db
    .updateTable('node_components')
    .set({ config_checksums: hashes({ '/a': 'x', '/b': 'y', '/c': '' }) })
    .where('node_id', '=', nodeId)
    .execute();
  const { components } = await get<NodeView>(`/nodes/${nodeId}`);
  expect(components[0]?.configs).toEqual([
    { path: '/a', state: 'as_written' },
    { path: '/b', state: 'edited' },
    { path: '/c', state: 'missing' },
  ]);
});

it('what rollouts did to a node is listed newest first, in pages, with which way and how it ended', async () => {
  const { db } = api.database;
  const ended = { previous_version: 'v1.0.0', started_at: new Date(1000), ended_at: new Date(9000), duration_ms: 8000 };
  for (const [at, row] of [
    [1, { status: 'failed', error_message: 'exit status 2', log_tail: json(['panic: no']) }],
    [2, { status: 'rolled_back', attempt_direction: 'rollback' }],
  ] as const) {
    const rollout = await insertRollout(db, { chain_profile_id: 'alpha', status: 'completed' });
    await insertRolloutNode(db, rollout, nodeId, { ...ended, ...row, created_at: new Date(at * 1000) });
  }
  const first = await get<Page<NodeUpgradeView>>(`/nodes/${nodeId}/upgrades?limit=1`);
  expect(first.items).toMatchObject([
    { from_version: 'v2.0.0', to_version: 'v1.0.0', direction: 'rollback', has_log: false },
  ]);
  const second = await get<Page<NodeUpgradeView>>(`/nodes/${nodeId}/upgrades?limit=1&cursor=${first.next_cursor}`);
  expect(second.items).toMatchObject([
    { from_version: 'v1.0.0', to_version: 'v2.0.0', error_message: 'exit status 2', has_log: true, duration_ms: 8000 },
  ]);
  expect(second.next_cursor).toBeNull();
});
