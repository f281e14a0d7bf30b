import type { PolicyView } from '@hoodcloud/contracts/http/policies';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../http/testing/api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
});
afterAll(() => api.dispose());

const BUDGET = { scope: { labels: { zone: 'a' } }, max_unavailable: '25%' };
const put = (name: string, body: unknown, headers: Record<string, string> = {}) =>
  api.call<PolicyView & Problem>('PUT', `/policies/disruption_budget/${name}`, body, headers);

async function eventsOf(id: string): Promise<string[]> {
  const { db } = api.database;
  const rows = await db.selectFrom('events').select('kind').where('subject_id', '=', id).orderBy('id').execute();
  return rows.map(({ kind }) => kind);
}

async function wakes(): Promise<number> {
  const rows = await api.database.db
    .selectFrom('engine_messages')
    .select('signal')
    .where('signal', '=', 'wake')
    .execute();
  return rows.length;
}

describe('PUT /policies/{kind}/{name}', () => {
  it('makes a policy, tells how many nodes it covers, and wakes the rollouts under way', async () => {
    const { db } = api.database;
    await insertNode(db, { labels: JSON.stringify({ zone: 'a' }) });
    await insertNode(db, { labels: JSON.stringify({ zone: 'b' }) });
    await insertRollout(db, { status: 'running' });
    const { status, body } = await put('zone-a', { spec: BUDGET, managed_by: 'fleet-repo' });
    expect([status, body.spec, body.covered_nodes, body.revision]).toEqual([200, BUDGET, 1, 1]);
    expect([body.managed_by, body.created_by]).toEqual(['fleet-repo', 'key:test']);
    expect(await eventsOf(body.id)).toEqual(['policy_created']);
    expect(await wakes()).toBe(1);
  });

  it('said again it changes nothing and wakes nobody; another spec is a new revision, with what it was before', async () => {
    const before = await wakes();
    const again = await put('zone-a', { spec: BUDGET, managed_by: 'fleet-repo' });
    expect(again.body.revision).toBe(1);
    expect(await wakes()).toBe(before);
    const { body } = await put('zone-a', { spec: { ...BUDGET, max_unavailable: 2 } });
    expect([body.revision, body.managed_by]).toEqual([2, null]);
    expect(await eventsOf(body.id)).toEqual(['policy_created', 'policy_changed']);
    const { data } = await api.database.db
      .selectFrom('events')
      .select('data')
      .where('kind', '=', 'policy_changed')
      .executeTakeFirstOrThrow();
    expect(data).toMatchObject({ before: BUDGET, after: { max_unavailable: 2 } });
    expect(await wakes()).toBe(before + 1);
  });

  it('is refused upon what changed meanwhile, and changes nothing', async () => {
    const seen = await api.call<PolicyView>('GET', '/policies/disruption_budget/zone-a');
    await put('zone-a', { spec: { ...BUDGET, max_unavailable: 3 } });
    const late = await put('zone-a', { spec: BUDGET }, { 'if-match': String(seen.headers.etag) });
    expect([late.status, late.body.code]).toEqual([412, 'changed_meanwhile']);
    const { body } = await api.call<PolicyView>('GET', '/policies/disruption_budget/zone-a');
    expect(body.spec.max_unavailable).toBe(3);
  });

  it.each([
    ['a budget of nothing', { spec: { max_unavailable: 0 } }, 'body.spec.max_unavailable'],
    ['a share over the whole', { spec: { max_unavailable: '101%' } }, 'body.spec.max_unavailable'],
    ['an unknown field', { spec: { max_unavailable: 1, zone: 'a' } }, 'body.spec'],
    ['no spec', {}, 'body.spec'],
  ])('%s is refused by its field', async (_, body, field) => {
    const answer = await put('bad', body);
    expect([answer.status, answer.body.errors?.[0]?.field]).toEqual([400, field]);
    expect((await api.call('GET', '/policies/disruption_budget/bad')).status).toBe(404);
  });

  it('a dry run judges it and changes nothing', async () => {
    const { status } = await api.call('PUT', '/policies/freeze/try?dry_run=true', {
      spec: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', reason: 'try' },
    });
    expect(status).toBe(200);
    expect((await api.call('GET', '/policies/freeze/try')).status).toBe(404);
  });
});

it('lists by kind and source, page by page, and DELETE takes one away', async () => {
  for (const name of ['p1', 'p2', 'p3']) await put(name, { spec: BUDGET, managed_by: 'other' });
  const names: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await api.call<{ items: PolicyView[]; next_cursor: string | null }>(
      'GET',
      `/policies?kind=disruption_budget&managed_by=other&limit=2${query}`,
    );
    names.push(...body.items.map(({ name }) => name));
    cursor = body.next_cursor;
  }
  expect(names).toEqual(['p1', 'p2', 'p3']);
  const gone = await api.call<PolicyView>('DELETE', '/policies/disruption_budget/p2');
  expect([gone.status, await eventsOf(gone.body.id)]).toEqual([200, ['policy_created', 'policy_deleted']]);
  expect((await api.call('DELETE', '/policies/disruption_budget/p2')).status).toBe(404);
});

it('describes the methods of a path as they are: what Allow tells is what the document lists', async () => {
  const { paths } = JSON.parse((await api.app.inject({ url: '/openapi.json' })).body);
  const policies = Object.keys(paths).filter((path) => path.includes('/policies/'));
  expect(policies).toHaveLength(3);
  for (const path of policies) {
    const { headers } = await api.app.inject({ method: 'OPTIONS', url: path.replace('{name}', 'a') });
    const described = Object.keys(paths[path]).map((method) => method.toUpperCase());
    expect(String(headers.allow).split(', ')).toEqual([...described, 'HEAD'].sort());
  }
});
