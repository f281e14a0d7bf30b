import type { RolloutOverrides } from '@hoodcloud/contracts/http/policies';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { Scope } from '@hoodcloud/contracts/http/scopes';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createApiKey } from '../auth/api-keys.ts';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';

let api: ApiFixture;
let rolloutId: string;
const keys = new Map<string, string>();
beforeAll(async () => {
  api = await ApiFixture.create();
  const make = async (name: string, scopes: Scope[], createdBy = 'user:root') =>
    keys.set(name, (await createApiKey(api.database.db, { name, createdBy, scopes })).key);
  await make('ann', ['operate', 'override'], 'user:ann');
  await make('ann-too', ['override'], 'key:ann');
  await make('bob', ['override'], 'user:bob');
  await make('root', ['admin']);
});
afterAll(() => api.dispose());

let chains = 0;
beforeEach(async () => {
  const { db } = api.database;
  chains += 1;
  const chain = `chain-${chains}`;
  await api.writeConfig(`${chain}/profile.yaml`, TEST_PROFILE.replace('testchain', chain));
  rolloutId = await insertRollout(db, { chain_profile_id: chain, status: 'running', targets_resolved_at: new Date() });
  for (const batch_index of [0, 1]) {
    await insertRolloutNode(db, rolloutId, await insertNode(db, { chain_profile_id: chain }), { batch_index });
  }
  await api.call('PUT', '/policies/freeze/payout', {
    spec: {
      scope: { chains: [chain] },
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date(Date.now() + 3_600_000).toISOString(),
      reason: 'payout week',
    },
  });
});

const override = (who: string, body: unknown) =>
  api.call<RolloutOverrides & Problem>('POST', `/rollouts/${rolloutId}/overrides`, body, {
    authorization: `Bearer ${keys.get(who)}`,
  });
const ORDER = { rule: 'freeze/payout', reason: 'the CVE is public' };

async function whyOfFirst(): Promise<string[]> {
  const { body } = await api.call<{ items: { why: { code: string }[] }[] }>(
    'GET',
    `/rollouts/${rolloutId}/nodes?batch=0`,
  );
  return body.items.flatMap(({ why }) => why.map(({ code }) => code));
}

it('a freeze is crossed by the word of two people, told with who has agreed so far', async () => {
  expect(await whyOfFirst()).toContain('frozen');
  const first = await override('ann', ORDER);
  expect([first.status, first.body.holding[0]]).toMatchObject([
    201,
    { rule: 'freeze/payout', persons: 2, agreed: ['key:ann'], nodes: 2 },
  ]);
  expect(await whyOfFirst()).toContain('frozen');
  const second = await override('bob', ORDER);
  expect(second.body.holding).toEqual([]);
  expect(second.body.items.map(({ actor }) => actor)).toEqual(['key:ann', 'key:bob']);
  expect(await whyOfFirst()).not.toContain('frozen');
  const { db } = api.database;
  const events = await db
    .selectFrom('events')
    .select('actor')
    .where('kind', '=', 'rule_overridden')
    .where('rollout_id', '=', rolloutId)
    .execute();
  expect(events.map(({ actor }) => actor)).toEqual(['key:ann', 'key:bob']);
});

it('an override that has expired holds no more', async () => {
  await override('ann', ORDER);
  await override('bob', ORDER);
  expect(await whyOfFirst()).not.toContain('frozen');
  await api.database.pool.query(
    `update rule_overrides set created_at = now() - interval '2 h', expires_at = now() - interval '1 s'
      where rollout_id = $1 and actor = 'key:bob'`,
    [rolloutId],
  );
  expect(await whyOfFirst()).toContain('frozen');
  const { body } = await api.call<RolloutOverrides>('GET', `/rollouts/${rolloutId}/overrides`);
  expect(body.items.map(({ expired }) => expired).sort()).toEqual([false, true]);
  expect(body.holding[0]?.agreed).toEqual(['key:ann']);
});

it.each(['ann', 'ann-too'])('the same person behind the key %s is no second person', async (who) => {
  await override('ann', ORDER);
  const again = await override(who, ORDER);
  expect([again.status, again.body.code]).toEqual([409, 'second_person_needed']);
});

it('admin alone may not: overriding is a right of its own', async () => {
  const { status, body } = await override('root', ORDER);
  expect([status, body.code]).toEqual([403, 'scope_missing']);
});

it('a rule that holds nothing back is refused, with those that do', async () => {
  const { status, body } = await override('ann', { ...ORDER, rule: 'freeze/easter' });
  expect([status, body.code, body.detail]).toEqual([
    409,
    'rule_holds_nothing',
    'freeze/easter does not hold this rollout back now. Those that do: freeze/payout.',
  ]);
});

it.each(['canceled', 'failed', 'completed'] as const)(
  'a %s rollout is held by no rule, though a node of it never had its turn, and none can be set aside',
  async (status) => {
    const overrides = () => api.call<RolloutOverrides>('GET', `/rollouts/${rolloutId}/overrides`);
    expect((await overrides()).body.holding.map(({ rule }) => rule)).toEqual(['freeze/payout']);
    await api.database.db.updateTable('rollouts').set({ status }).where('id', '=', rolloutId).execute();
    expect((await overrides()).body.holding).toEqual([]);
    const refused = await override('ann', ORDER);
    expect([refused.status, refused.body.code]).toEqual([409, 'rule_holds_nothing']);
  },
);

it.each([
  ['no reason', { rule: 'freeze/payout' }, 'body.reason'],
  ['a reason of blanks', { ...ORDER, reason: '   ' }, 'body.reason'],
  ['more than seven days', { ...ORDER, expires_in_seconds: 7 * 86_400 + 1 }, 'body.expires_in_seconds'],
])('%s is refused by its field', async (_, body, field) => {
  const answer = await override('ann', body);
  expect([answer.status, answer.body.errors?.[0]?.field]).toEqual([400, field]);
});
