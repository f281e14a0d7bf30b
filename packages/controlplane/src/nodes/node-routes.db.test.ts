import type { Page } from '@hoodcloud/contracts/http/common';
import type { JoinTokenView, NodeView } from '@hoodcloud/contracts/http/nodes';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import { checksumOf, insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashAgentSecret } from '../gateway/agent-secret.ts';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
});
afterAll(() => api.dispose());

const wanted = (name: string) => ({ name, chain_profile_id: 'testchain', node_type: 'validator' });

async function addNode(name: string): Promise<NodeView> {
  return (await api.call<NodeView>('POST', '/nodes', wanted(name))).body;
}

function tokens(nodeId: string) {
  return api.database.db
    .selectFrom('join_tokens')
    .selectAll()
    .where('node_id', '=', nodeId)
    .orderBy('created_at')
    .execute();
}

describe('nodes', () => {
  it('are added before their agent joins', async () => {
    expect(await addNode('first')).toMatchObject({
      state: 'provisioning',
      online: false,
      joined_at: null,
      components: [],
    });
  });

  it('are refused for a chain without profile and for a type that the profile does not know', async () => {
    const noChain = await api.call<Problem>('POST', '/nodes', { ...wanted('x'), chain_profile_id: 'other' });
    expect({ status: noChain.status, code: noChain.body.code }).toEqual({ status: 422, code: 'config_file_not_found' });
    const noType = await api.call<Problem>('POST', '/nodes', { ...wanted('x'), node_type: 'archive' });
    expect(noType.body).toMatchObject({
      code: 'unknown_node_type',
      detail: expect.stringContaining('validator, full'),
    });
  });

  it.each([
    ['state=down', ['ash']],
    ['version=v2.0.0', ['birch']],
    ['name=BIRCH-', ['birch']],
    ['online=false', ['cedar']],
    ['online=true&state=healthy', ['birch']],
  ])('are filtered on the server: %s', async (filter, names) => {
    const chain = { chain_profile_id: `filtered-${filter}`.slice(0, 90) };
    const { db } = api.database;
    const own = (name: string) => `${name}-${filter.replaceAll(/[^a-z0-9]/gi, '')}`;
    await insertNode(db, { ...chain, name: own('ash'), state: 'down' });
    await insertNode(db, { ...chain, name: own('birch'), version: 'v2.0.0' });
    await insertNode(db, { ...chain, name: own('cedar'), last_heartbeat_at: null });
    const query = `chain_profile_id=${encodeURIComponent(chain.chain_profile_id)}&${filter}`;
    const { body } = await api.call<Page<NodeView>>('GET', `/nodes?${query}`);
    expect(body.items.map(({ name }) => name)).toEqual(names.map(own));
  });

  it('come in pages, each once, in the order of their names', async () => {
    for (const name of ['p3', 'p1', 'p2', 'p5', 'p4'])
      await insertNode(api.database.db, { name, chain_profile_id: 'paged' });
    const names: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await api.call<Page<NodeView>>('GET', `/nodes?chain_profile_id=paged&limit=2${next}`);
      names.push(...body.items.map(({ name }) => name));
      cursor = body.next_cursor;
    }
    expect(names).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
  });

  it('show what runs on them, with the version that is known', async () => {
    const id = await insertNode(api.database.db, { version: 'v1.2.3', runningChecksum: checksumOf('d') });
    const { body } = await api.call<NodeView>('GET', `/nodes/${id}`);
    expect(body.components).toMatchObject([
      {
        binary_name: 'cometbft',
        running_checksum: checksumOf('d'),
        binary_version: 'v1.2.3',
        version_source: 'profile',
      },
    ]);
    expect(body).toMatchObject({ online: true, display_state: 'healthy' });
  });
});

describe('join tokens (B3)', () => {
  it('are shown once and stored as a hash, with their end', async () => {
    const { id } = await addNode('joins');
    const { status, body } = await api.call<JoinTokenView>('POST', `/nodes/${id}/join-token`, {
      expires_in_seconds: 60,
    });
    expect(status).toBe(201);
    const [row] = await tokens(id);
    expect(row?.token_hash).toEqual(hashAgentSecret(body.join_token));
    expect(row?.created_by).toBe('key:test');
    const lifetime = (row?.expires_at.getTime() ?? 0) - (row?.created_at.getTime() ?? 0);
    expect(Math.abs(lifetime - 60_000)).toBeLessThan(5000);
  });

  it('make earlier ones that nobody used void', async () => {
    const { id } = await addNode('joins-again');
    await api.call('POST', `/nodes/${id}/join-token`);
    await api.call('POST', `/nodes/${id}/join-token`);
    const now = Date.now();
    expect((await tokens(id)).map((row) => row.expires_at.getTime() > now)).toEqual([false, true]);
  });

  it('are not made for a node that is not there, nor for a second or a year', async () => {
    const missing = '/nodes/11111111-1111-4111-8111-111111111111/join-token';
    expect((await api.call<Problem>('POST', missing)).body.code).toBe('node_not_found');
    const { id } = await addNode('joins-wrong');
    for (const expires_in_seconds of [1, 31_536_000]) {
      expect((await api.call('POST', `/nodes/${id}/join-token`, { expires_in_seconds })).status).toBe(400);
    }
  });
});

describe('naming a version (B2)', () => {
  it('is what an operator says of a component that the node has', async () => {
    const id = await insertNode(api.database.db);
    const { body } = await api.call<NodeView>('POST', `/nodes/${id}/components/cometbft/version`, { version: 'v9' });
    expect(body.components).toMatchObject([{ binary_version: 'v9', version_source: 'operator' }]);
    const other = await api.call<Problem>('POST', `/nodes/${id}/components/geth/version`, { version: 'v9' });
    expect({ status: other.status, code: other.body.code }).toEqual({ status: 404, code: 'component_not_found' });
  });
});
