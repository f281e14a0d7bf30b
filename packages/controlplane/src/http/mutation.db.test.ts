import type { IncidentView } from '@hoodcloud/contracts/http/incidents';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import { reason } from '@hoodcloud/domain/reasons';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openIncident } from '../incidents/open-incident.ts';
import { ApiFixture, TEST_PROFILE } from './testing/api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
});
afterAll(() => api.dispose());

const node = (name: string) => ({ name, chain_profile_id: 'testchain', node_type: 'validator' });
const count = async (table: 'nodes' | 'events' | 'idempotency_keys') =>
  (await api.database.pool.query(`select count(*)::int as n from ${table}`)).rows[0].n;

describe('every mutation', () => {
  it('takes dry_run and an Idempotency-Key, and is documented so', async () => {
    const { paths } = JSON.parse((await api.app.inject({ url: '/openapi.json' })).body);
    const lacking: string[] = [];
    for (const [path, methods] of Object.entries<Record<string, { parameters?: { name: string }[] }>>(paths)) {
      for (const [method, { parameters = [] }] of Object.entries(methods)) {
        if (method === 'get' || path.endsWith('/plan')) continue; // a plan changes nothing
        const names = parameters.map(({ name }) => name);
        for (const name of ['dry_run', 'idempotency-key']) if (!names.includes(name)) lacking.push(`${path} ${name}`);
      }
    }
    expect(lacking).toEqual([]);
  });

  it('changes nothing in a dry run, and answers what would have been', async () => {
    const before = [await count('nodes'), await count('events')];
    const answer = await api.call<{ name: string }>('POST', '/nodes?dry_run=true', node('rehearsed'), {
      'idempotency-key': 'rehearsal',
    });
    expect(answer).toMatchObject({ status: 200, body: { name: 'rehearsed' }, headers: { 'dry-run': 'true' } });
    expect([await count('nodes'), await count('events')]).toEqual(before);
    // and the key of a dry run is still free
    expect((await api.call('POST', '/nodes', node('rehearsed'), { 'idempotency-key': 'rehearsal' })).status).toBe(201);
    const taken = await api.call<Problem>('POST', '/nodes?dry_run=true', node('rehearsed'));
    expect(taken).toMatchObject({ status: 409, body: { code: 'node_name_taken' } });
  });

  it('shows a secret once: neither a dry run nor a replay has it, and nothing stored either', async () => {
    const key = { 'idempotency-key': 'secret' };
    const body = { name: 'once' };
    expect((await api.call<{ secret: string }>('POST', '/api-keys?dry_run=true', body)).body.secret).toBe('');
    const first = await api.call<{ id: string; secret: string }>('POST', '/api-keys', body, key);
    const again = await api.call<{ id: string; secret: string }>('POST', '/api-keys', body, key);
    expect(again.body).toEqual({ ...first.body, secret: '' });
    const { rows } = await api.database.pool.query('select response_body::text as text from idempotency_keys');
    expect(JSON.stringify(rows)).not.toContain(first.body.secret.split('.')[1]);
  });
});

describe('where two operators may collide (ETag, If-Match)', () => {
  it('the second control of a rollout is refused when it was ordered for what is no more', async () => {
    const id = await insertRollout(api.database.db, { status: 'running', targets_resolved_at: new Date() });
    const etag = String((await api.call('GET', `/rollouts/${id}`)).headers.etag);
    const first = await api.call('POST', `/rollouts/${id}/pause`, {}, { 'if-match': etag });
    expect(first.status).toBe(200);
    const second = await api.call<Problem>('POST', `/rollouts/${id}/cancel`, {}, { 'if-match': etag });
    expect(second).toMatchObject({
      status: 412,
      body: { code: 'changed_meanwhile', details: { etag: first.headers.etag } },
    });
    expect(
      (await api.call('POST', `/rollouts/${id}/cancel`, {}, { 'if-match': String(first.headers.etag) })).status,
    ).toBe(200);
  });

  it('an incident too', async () => {
    const nodeId = await insertNode(api.database.db);
    await openIncident(api.database.db, {
      category: 'upgrade_failed',
      severity: 'critical',
      nodeId,
      rolloutId: null,
      dedupeKey: 'collision',
      summary: 'it broke',
      reason: reason('node_quarantined', { node: 'a' }),
      actor: 'system:test',
    });
    const [incident] = (await api.call<{ items: IncidentView[] }>('GET', '/incidents')).body.items;
    const path = `/incidents/${incident?.id}`;
    const etag = String((await api.call('GET', path)).headers.etag);
    const why = { reason: 'I look into it' };
    expect((await api.call('POST', `${path}/acknowledge`, why, { 'if-match': etag })).status).toBe(200);
    expect((await api.call('POST', `${path}/resolve`, {}, { 'if-match': etag })).status).toBe(412);
    const { rows } = await api.database.pool.query(
      "select actor, data from events where kind = 'incident_acknowledged'",
    );
    expect(rows).toEqual([{ actor: 'key:test', data: why }]);
  });
});
