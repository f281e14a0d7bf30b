import type { Problem } from '@hoodcloud/contracts/http/problem';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiKey } from '../auth/api-keys.ts';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { storeControlsByHand } from './controls-by-hand.ts';

let api: ApiFixture;
const keys: Record<string, string> = {};
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', `${TEST_PROFILE}two_person_approval: true\n`);
  for (const [name, createdBy] of [
    ['alice', 'system:command-line'],
    ['alices-other', 'key:alice'],
    ['alices-third', 'key:alices-other'],
    ['bob', 'system:command-line'],
  ] as const) {
    keys[name] = (await createApiKey(api.database.db, { name, createdBy, scopes: ['operate'] })).key;
  }
});
afterAll(() => api.dispose());

/** A breaking rollout that alice created and whose canary has ended. */
async function waiting(columns: { two_person_approval: boolean }): Promise<string> {
  const { db } = api.database;
  await db.deleteFrom('active_chains').execute();
  await db.updateTable('rollouts').set({ status: 'canceled' }).execute();
  const id = await insertRollout(db, {
    status: 'running',
    strategy: 'canary',
    migration_type: 'breaking',
    targets_resolved_at: new Date(),
    created_by: 'key:alice',
    ...columns,
  });
  const ended = { attempt_count: 1, started_at: new Date(1000), ended_at: new Date(2000) };
  await insertRolloutNode(db, id, await insertNode(db), { status: 'succeeded', ...ended });
  return id;
}

const approve = (id: string, who: string) =>
  api.call<Problem>('POST', `/rollouts/${id}/approve`, {}, { authorization: `Bearer ${keys[who]}` });

it.each(['alice', 'alices-other', 'alices-third'])(
  'the creator of a breaking rollout does not approve it, nor does a key of hers: %s',
  async (who) => {
    const answer = await approve(await waiting({ two_person_approval: true }), who);
    expect(answer).toMatchObject({ status: 409, body: { details: { reason: 'second_person_needed' } } });
    expect(answer.body.detail).toContain('key:alice created the rollout');
  },
);

it('a second person does', async () => {
  expect((await approve(await waiting({ two_person_approval: true }), 'bob')).status).toBe(200);
});

it('where the chain does not ask for two persons, one is enough', async () => {
  expect((await approve(await waiting({ two_person_approval: false }), 'alice')).status).toBe(200);
});

it('a signal sent to the workflow by hand is nobody, so it is no second person', async () => {
  const id = await waiting({ two_person_approval: true });
  const { db } = api.database;
  const rollout = await db.selectFrom('rollouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  await storeControlsByHand(db, rollout, [{ id: '22222222-2222-4222-8222-222222222222', kind: 'approve_canary' }]);
  const controls = await db.selectFrom('rollout_controls').selectAll().where('rollout_id', '=', id).execute();
  expect(controls).toEqual([]);
});
