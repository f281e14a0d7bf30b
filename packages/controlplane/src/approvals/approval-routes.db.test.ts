import type { ApprovalView } from '@hoodcloud/contracts/http/approvals';
import type { IdentityView } from '@hoodcloud/contracts/http/identity';
import { reason } from '@hoodcloud/domain/reasons';
import { insertGroup } from '@hoodcloud/testkit/group-rows';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiKey } from '../auth/api-keys.ts';
import { json } from '../db/json.ts';
import { ApiFixture } from '../http/testing/api-fixture.ts';

const WAITS = json({ kind: 'wait', until: null, reasons: [reason('waiting_for_approval')] });
const CANARY_ENDED = new Date('2026-01-01T02:00:00Z');

let api: ApiFixture;
let onlooker: string;
let rolloutId: string;
beforeAll(async () => {
  api = await ApiFixture.create();
  const { db } = api.database;
  const paused = reason('paused_by_operator', { actor: 'key:anna', why: 'the exchange' });
  const ofPause = { status_reason: paused.code, status_reason_params: json(paused.params) };
  const breaking = { strategy: 'canary', migration_type: 'breaking', status: 'running' } as const;
  rolloutId = await insertRollout(db, {
    ...breaking,
    chain_profile_id: 'approve-me',
    last_decision: WAITS,
    two_person_approval: true,
    created_by: 'key:test',
  });
  const ended = { status: 'succeeded', ended_at: CANARY_ENDED, attempt_count: 1 } as const;
  await insertRolloutNode(db, rolloutId, await insertNode(db, { chain_profile_id: 'approve-me' }), ended);
  await insertRollout(db, { ...breaking, chain_profile_id: 'goes-on' });
  await insertRollout(db, { chain_profile_id: 'paused', status: 'paused', ...ofPause });
  await insertRollout(db, { chain_profile_id: 'not-started' });
  await insertGroup(db, { chain_profile_id: 'group', status: 'paused', ...ofPause });
  await insertGroup(db, { chain_profile_id: 'group-goes-on', status: 'running' });
  onlooker = (await createApiKey(db, { name: 'looks', createdBy: 'system:test', scopes: ['read'] })).key;
});
afterAll(() => api.dispose());

const waiting = async (key = api.key) =>
  (await api.call<{ items: ApprovalView[] }>('GET', '/approvals', undefined, { authorization: `Bearer ${key}` })).body
    .items;

it('what waits for a person is listed with why and since when, what goes on by itself is not', async () => {
  const items = await waiting();
  expect(items.map(({ chain_profile_id, needs }) => [chain_profile_id, needs])).toEqual([
    ['approve-me', 'approve'],
    ['paused', 'decide'],
    ['group', 'decide'],
    ['not-started', 'start'],
  ]);
  expect(items[0]).toMatchObject({ since: CANARY_ENDED.toISOString(), brings: 'cometbft v2.0.0' });
  expect(items[1]?.reasons[0]?.sentence).toBe('Paused by key:anna: the exchange');
  expect(items[2]?.brings).toBe('companion v2.0.0, execution v2.0.0');
});

it('says to who created a rollout that a second person is needed, and to who may only look that it may not', async () => {
  expect((await waiting())[0]?.refusal).toContain('key:test is no second person');
  expect((await waiting())[1]?.refusal).toBeNull();
  expect((await waiting(onlooker)).map(({ refusal }) => refusal)).toEqual(
    Array(4).fill(expect.stringContaining('operate')),
  );
});

it('the etag of an approval is the one the control is asked with', async () => {
  const { headers } = await api.call('GET', `/rollouts/${rolloutId}`);
  expect((await waiting())[0]?.etag).toBe(headers.etag);
});

it('a caller is told who it is and what it may do', async () => {
  const who = async (key: string) =>
    (await api.call<IdentityView>('GET', '/identity', undefined, { authorization: `Bearer ${key}` })).body;
  expect(await who(onlooker)).toEqual({ actor: 'key:looks', scopes: ['read'] });
  expect(await who(api.key)).toEqual({ actor: 'key:test', scopes: ['read', 'operate', 'admin'] });
});
