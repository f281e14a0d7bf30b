import { randomUUID } from 'node:crypto';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import type {
  RolloutBatchesView,
  RolloutDetail,
  RolloutNodeLogs,
  RolloutNodeView,
  RolloutView,
} from '@hoodcloud/contracts/http/rollout-views';
import { checksumOf, insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json } from '../db/json.ts';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
});
afterAll(() => api.dispose());

describe('the nodes of a large rollout', () => {
  it('are counted batch by batch, and read by name, batch and id', async () => {
    const { db } = api.database;
    const id = await insertRollout(db, { chain_profile_id: 'large', status: 'running', batch_size: 2 });
    const nodes: string[] = [];
    for (let index = 0; index < 8; index += 1) {
      const node = await insertNode(db, { name: `Large-${index}`, chain_profile_id: 'large' });
      nodes.push(node);
      const status = index < 4 ? 'succeeded' : index === 4 ? 'in_progress' : 'pending';
      await insertRolloutNode(db, id, node, { batch_index: Math.floor(index / 2), status });
    }
    const { body } = await api.call<RolloutBatchesView>('GET', `/rollouts/${id}/batches`);
    expect(body.items).toEqual([
      { first_batch: 0, last_batch: 1, nodes: 4, counts: [{ status: 'succeeded', nodes: 4 }] },
      {
        first_batch: 2,
        last_batch: 2,
        nodes: 2,
        counts: [
          { status: 'in_progress', nodes: 1 },
          { status: 'pending', nodes: 1 },
        ],
      },
      { first_batch: 3, last_batch: 3, nodes: 2, counts: [{ status: 'pending', nodes: 2 }] },
    ]);
    const named = async (query: string) =>
      (await api.call<Page<RolloutNodeView>>('GET', `/rollouts/${id}/nodes?${query}`)).body.items.map(
        ({ node_name }) => node_name,
      );
    expect(await named('batch=2')).toEqual(['Large-4', 'Large-5']);
    expect(await named('name=large-7')).toEqual(['Large-7']);
    expect(await named(`node_id=${nodes[1]},${nodes[6]}`)).toEqual(['Large-1', 'Large-6']);
    const fleet = await api.call<Page<NodeView>>('GET', `/nodes?node_id=${nodes[3]}`);
    expect(fleet.body.items.map(({ name }) => name)).toEqual(['Large-3']);
    const wrong = await api.call('GET', `/rollouts/${id}/nodes?node_id=${nodes[1]},rm`);
    expect(wrong.status).toBe(400);
    expect((await api.call('GET', `/rollouts/${randomUUID()}/batches`)).status).toBe(404);
  });
});

describe('a rollout', () => {
  it('says in sentences why it waits', async () => {
    const until = '2026-01-01T00:00:00.000Z';
    const id = await insertRollout(api.database.db, {
      chain_profile_id: 'waits',
      status: 'running',
      last_decision: json({ kind: 'wait', until, reasons: [{ code: 'canary_observation', params: { until } }] }),
    });
    const { body } = await api.call<RolloutDetail>('GET', `/rollouts/${id}`);
    expect(body.waiting).toEqual({
      kind: 'wait',
      until,
      reasons: [
        {
          code: 'canary_observation',
          params: { until },
          severity: 'info',
          sentence: `The canaries are watched until ${until}.`,
        },
      ],
    });
  });

  it('is listed with others newest first, page by page, by chain and status', async () => {
    const ids: string[] = [];
    for (const status of ['completed', 'failed', 'completed', 'canceled', 'completed'] as const) {
      ids.unshift(await insertRollout(api.database.db, { chain_profile_id: 'listed', status }));
    }
    const seen: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const cursor: string = next === '' ? '' : `&cursor=${next}`;
      const { body } = await api.call<Page<RolloutView>>('GET', `/rollouts?chain_profile_id=listed&limit=2${cursor}`);
      seen.push(...body.items.map(({ id }) => id));
      next = body.next_cursor;
    }
    expect(seen).toEqual(ids);
    const completed = await api.call<Page<RolloutView>>('GET', '/rollouts?chain_profile_id=listed&status=completed');
    expect(completed.body.items).toHaveLength(3);
  });
});

describe('a node of a rollout', () => {
  it('shows phase, progress of its command, error, checksums and what health still misses', async () => {
    const { db } = api.database;
    const rolloutId = await insertRollout(db, { chain_profile_id: 'nodes', status: 'running' });
    const nodeId = await insertNode(db, { name: 'val1', height: 77, runningChecksum: checksumOf('d') });
    const rolloutNodeId = await insertRolloutNode(db, rolloutId, nodeId, {
      status: 'in_progress',
      upgrade_phase: 'MUTATING',
      attempt_count: 1,
      previous_version: 'v1.0.0',
      error_message: 'disk full',
    });
    await db
      .insertInto('agent_commands')
      .values({
        node_id: nodeId,
        rollout_id: rolloutId,
        rollout_node_id: rolloutNodeId,
        attempt_id: 'a.1',
        operation: 'UPGRADE',
        payload: Buffer.from(''),
        status: 'acknowledged',
        workflow_id: 'w',
        deadline_at: new Date(),
        action_index: 4,
        action_name: 'install_artifact',
        progress_pct: 55,
        progress_note: 'renaming',
      })
      .execute();
    await db
      .insertInto('health_validations')
      .values({
        node_id: nodeId,
        rollout_id: rolloutId,
        rollout_node_id: rolloutNodeId,
        attempt_id: 'a.1',
        binary_name: 'cometbft',
        expected_checksum: checksumOf('b'),
        health_wait_ms: 1,
        workflow_id: 'w',
        since: new Date(),
        reasons: json([{ code: 'no_fresh_heartbeat', params: {} }]),
      })
      .execute();
    const { body } = await api.call<Page<RolloutNodeView>>('GET', `/rollouts/${rolloutId}/nodes`);
    expect(body.items).toMatchObject([
      {
        node_name: 'val1',
        status: 'in_progress',
        upgrade_phase: 'MUTATING',
        error_message: 'disk full',
        previous_version: 'v1.0.0',
        current_checksum: checksumOf('d'),
        height: 77,
        command: {
          operation: 'UPGRADE',
          action_index: 4,
          action_name: 'install_artifact',
          progress_pct: 55,
          note: 'renaming',
        },
        health_reasons: [{ code: 'no_fresh_heartbeat' }],
      },
    ]);
  });

  it('comes batch by batch, those left out last, each once over all pages', async () => {
    const { db } = api.database;
    const rolloutId = await insertRollout(db, { chain_profile_id: 'paged', status: 'running' });
    for (const [name, batch] of [
      ['z', 0],
      ['b', 1],
      ['a', 1],
      ['left-out', -1],
    ] as const) {
      await insertRolloutNode(db, rolloutId, await insertNode(db, { name: `paged-${name}` }), { batch_index: batch });
    }
    const first = await api.call<Page<RolloutNodeView>>('GET', `/rollouts/${rolloutId}/nodes?limit=3`);
    const second = await api.call<Page<RolloutNodeView>>(
      'GET',
      `/rollouts/${rolloutId}/nodes?limit=3&cursor=${first.body.next_cursor}`,
    );
    expect([...first.body.items, ...second.body.items].map(({ node_name }) => node_name)).toEqual([
      'paged-z',
      'paged-a',
      'paged-b',
      'paged-left-out',
    ]);
  });

  it('gives the last log lines of the version that failed (A18)', async () => {
    const { db } = api.database;
    const rolloutId = await insertRollout(db, { chain_profile_id: 'logs', status: 'failed' });
    const nodeId = await insertNode(db, { name: 'logs-1' });
    await insertRolloutNode(db, rolloutId, nodeId, { log_tail: json(['panic: no', 'exit 2']) });
    const { body } = await api.call<RolloutNodeLogs>('GET', `/rollouts/${rolloutId}/nodes/${nodeId}/logs`);
    expect(body).toEqual({ node_id: nodeId, node_name: 'logs-1', lines: ['panic: no', 'exit 2'] });
    const missing = await api.call('GET', `/rollouts/${rolloutId}/nodes/${rolloutId}/logs`);
    expect(missing.status).toBe(404);
  });
});
