import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../auth/api-keys.ts';
import { ApiFixture, TEST_PROFILE } from './testing/api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create({ bodyLimit: 20_000 });
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
});
afterAll(() => api.dispose());

describe('who may call', () => {
  it.each([
    ['nobody', { authorization: '' }],
    ['an unknown key', { authorization: 'Bearer hc_11111111-1111-4111-8111-111111111111.abc' }],
    ['a key that is none', { authorization: 'Bearer hc_x' }],
    ['another kind of token', { authorization: 'Bearer eyJhbGciOi.J9.x' }],
    ['a basic login', { authorization: 'Basic YTpi' }],
  ])('refuses %s with 401', async (_, headers) => {
    const { status, body, headers: answered } = await api.call<Problem>('GET', '/nodes', undefined, headers);
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'unauthorized' });
    expect(answered['content-type']).toContain('application/problem+json');
  });

  it('takes the key as X-API-Key too', async () => {
    const { status } = await api.call('GET', '/nodes', undefined, { authorization: '', 'x-api-key': api.key });
    expect(status).toBe(200);
  });

  it('refuses the right id with another secret, and a revoked key', async () => {
    const { id, key } = await createApiKey(api.database.db, { name: 'gone', createdBy: 'system:test' });
    const wrong = { authorization: `Bearer ${key}x` };
    expect((await api.call('GET', '/nodes', undefined, wrong)).status).toBe(401);
    expect((await api.call('DELETE', `/api-keys/${id}`)).status).toBe(200);
    expect((await api.call('GET', '/nodes', undefined, { authorization: `Bearer ${key}` })).status).toBe(401);
  });

  it('refuses a key without the scope that the route needs with 403, and says which', async () => {
    const reader = { name: 'reader', createdBy: 'system:test', scopes: ['read'] as const };
    const { key } = await createApiKey(api.database.db, reader);
    const authorization = `Bearer ${key}`;
    const { status, body } = await api.call<Problem>('POST', '/nodes', {}, { authorization });
    expect({ status, code: body.code, details: body.details }).toEqual({
      status: 403,
      code: 'scope_missing',
      details: { needed: 'admin', held: ['read'] },
    });
  });

  it('stores no secret', async () => {
    const created = await api.call<{ secret: string }>('POST', '/api-keys', { name: 'ci' });
    const row = await api.database.db
      .selectFrom('api_keys')
      .selectAll()
      .where('name', '=', 'ci')
      .executeTakeFirstOrThrow();
    expect(created.body.secret).toMatch(/^hc_[0-9a-f-]{36}\.[\w-]{43}$/);
    expect(JSON.stringify(row)).not.toContain(created.body.secret.split('.')[1]);
    const listed = await api.call<{ items: { name: string }[] }>('GET', '/api-keys');
    expect(JSON.stringify(listed.body)).not.toContain('secret');
  });
});

describe('errors are problems (RFC 9457)', () => {
  it('names every field that does not fit', async () => {
    const { status, body } = await api.call<Problem>('POST', '/nodes', { name: 'a b', node_type: 1, typo: true });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
    const fields = body.errors?.map(({ field }) => field);
    expect(fields).toEqual(expect.arrayContaining(['body.name', 'body.chain_profile_id', 'body.node_type']));
    expect(body.errors?.some(({ message }) => message.includes('typo'))).toBe(true);
  });

  it.each([
    ['a body that is no JSON', '{"name":', 400, 'invalid_json'],
    ['an oversize body', JSON.stringify({ name: 'x'.repeat(30_000) }), 413, 'body_too_large'],
  ])('refuses %s', async (_, payload, status, code) => {
    const answer = await api.call<Problem>('POST', '/nodes', payload, { 'content-type': 'application/json' });
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  });

  it('reads an oversize body to its end, so that its sender reads why it is refused', async () => {
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
    const { hostname, port } = new URL(url);
    const authorization = `Bearer ${api.key}`;
    const headers = { authorization, 'content-type': 'application/json', 'content-length': 8_000_000 };
    const sending = request({ hostname, port, path: '/api/v1/nodes', method: 'POST', headers });
    const answered = once(sending, 'response');
    // slowly, as a client far away does: the refusal is long decided when the last byte leaves
    for (let part = 0; part < 80; part++) {
      await new Promise<void>((resolve, reject) =>
        sending.write(' '.repeat(100_000), (e) => (e ? reject(e) : resolve())),
      );
      await setImmediate();
    }
    sending.end();
    const [answer] = (await answered) as [IncomingMessage];
    const body = JSON.parse(await text(answer));
    expect({ status: answer.statusCode, code: body.code }).toEqual({ status: 413, code: 'body_too_large' });
  });

  it('refuses a body of another kind', async () => {
    const answer = await api.call<Problem>('POST', '/nodes', 'a=1', { 'content-type': 'text/csv' });
    expect(answer.status).toBe(415);
  });

  it('says what is not there', async () => {
    const id = '11111111-1111-4111-8111-111111111111';
    expect((await api.call<Problem>('GET', `/nodes/${id}`)).body.code).toBe('node_not_found');
    expect((await api.call<Problem>('GET', `/incidents/${id}`)).body.code).toBe('incident_not_found');
    expect((await api.call<Problem>('GET', '/nothing')).body).toMatchObject({ status: 404, code: 'not_found' });
    expect((await api.call<Problem>('GET', '/nodes/not-an-id')).status).toBe(400);
  });

  it.each([
    ['a body null, which is no object', 'POST', '/nodes/11111111-1111-4111-8111-111111111111/join-token', 'null', 400],
    ['a parameter of a thousand letters', 'GET', `/nodes/${'a'.repeat(1000)}`, '', 400],
    ['a method that only a longer path has', 'GET', '/rollouts/plan', '', 405],
    ['a method that nobody has', 'QUERY', '/nodes', '', 405],
  ])('refuses %s', async (_, method, path, payload, status) => {
    const headers = { authorization: `Bearer ${api.key}`, ...(payload && { 'content-type': 'application/json' }) };
    const answer = await api.app.inject({ method: method as 'GET', url: `/api/v1${path}`, headers, payload });
    expect([answer.statusCode, JSON.parse(answer.body).status]).toEqual([status, status]);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    if (path === '/rollouts/plan') expect(answer.headers.allow).toBe('POST');
  });

  it('refuses a text that the database can not hold', async () => {
    const stored = await api.call<Problem>('POST', '/api-keys', { name: 'zero', reason: 'a\u0000b' });
    const asked = await api.call<Problem>('GET', '/nodes?chain_profile_id=%00');
    for (const { status, body } of [stored, asked]) expect([status, body.code]).toEqual([400, 'invalid_text']);
  });

  it('refuses a cursor that is none of ours', async () => {
    expect((await api.call<Problem>('GET', '/nodes?cursor=abc')).body.code).toBe('invalid_cursor');
  });

  it('shows nothing of the inside when we fail, and logs it with the request id', async () => {
    await api.database.pool.query('alter table nodes rename to nodes_away');
    const { status, body } = await api.call<Problem>('GET', '/nodes');
    await api.database.pool.query('alter table nodes_away rename to nodes');
    expect({ status, code: body.code }).toEqual({ status: 500, code: 'internal_error' });
    expect(JSON.stringify(body)).not.toContain('relation');
    expect(api.logged.at(-1)).toMatchObject({ request_id: body.instance?.replace('urn:uuid:', '') });
  });
});

describe('creating requests are done once per Idempotency-Key (C10c)', () => {
  const node = (name: string) => ({ name, chain_profile_id: 'testchain', node_type: 'validator' });

  it('gives the first answer again and creates nothing twice', async () => {
    const key = { 'idempotency-key': 'once' };
    const answers = await Promise.all(
      [1, 2, 3].map(() => api.call<{ id: string }>('POST', '/nodes', node('idem-1'), key)),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(2);
  });

  it('refuses the same key for another request', async () => {
    const key = { 'idempotency-key': 'reused' };
    await api.call('POST', '/nodes', node('idem-2'), key);
    const { status, body } = await api.call<Problem>('POST', '/nodes', node('idem-3'), key);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
  });

  it('does not remember a failure', async () => {
    const key = { 'idempotency-key': 'failed' };
    const taken = await api.call<Problem>('POST', '/nodes', node('idem-1'), key);
    expect({ status: taken.status, code: taken.body.code }).toEqual({ status: 409, code: 'node_name_taken' });
    await api.database.db.deleteFrom('nodes').where('name', '=', 'idem-1').execute();
    expect((await api.call('POST', '/nodes', node('idem-1'), key)).status).toBe(201);
  });
});

describe("the role's own pages need no key", () => {
  it.each(['/health', '/readyz', '/metrics', '/openapi.json'])('%s answers', async (url) => {
    expect((await api.app.inject({ url })).statusCode).toBe(200);
  });

  it('counts requests by route, never by id', async () => {
    await api.call('GET', '/nodes/11111111-1111-4111-8111-111111111111');
    const { body } = await api.app.inject({ url: '/metrics' });
    expect(body).toContain('route="/api/v1/nodes/:id",status="404"');
  });
});
