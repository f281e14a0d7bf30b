import type { Page } from '@hoodcloud/contracts/http/common';
import type {
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
