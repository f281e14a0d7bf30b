import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { ScopeGrantView } from '@hoodcloud/contracts/http/scope-grants';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiFixture } from '../http/testing/api-fixture.ts';
import { JwksSource } from './jwks-source.ts';
import { jwtAuthenticator } from './jwt.ts';
import { grantsOf } from './scope-grants.ts';
import { TestIssuer } from './testing/test-issuer.ts';

let issuer: TestIssuer;
let api: ApiFixture;
beforeAll(async () => {
  issuer = await TestIssuer.start();
  const { key } = new JwksSource({ location: issuer.url });
  const settings = {
    issuer: TestIssuer.ISSUER,
    audience: TestIssuer.AUDIENCE,
    authorizedParties: [],
    clockToleranceSeconds: 0,
    rolesClaim: null,
    roles: {},
  };
  api = await ApiFixture.create({
    authenticators: (db) => [jwtAuthenticator({ settings, key, grantsOf: (subject) => grantsOf(db, subject) })],
  });
});
afterAll(async () => {
  await api.dispose();
  await issuer.stop();
});

it('people with a JWT may do what the backend granted them, until it is taken back (DualAuthMiddleware)', async () => {
  const authorization = `Bearer ${await issuer.token({ scope: 'admin' })}`;
  const asked = () => api.call<Problem>('GET', '/api-keys', undefined, { authorization });
  expect(await asked()).toMatchObject({ status: 403, body: { details: { needed: 'admin', held: [] } } });
  // users can't assign it to themselves
  const grant = { subject: 'alice', scope: 'admin', reason: 'on call this week' };
  expect((await api.call('POST', '/scope-grants', grant, { authorization })).status).toBe(403);

  const granted = await api.call<ScopeGrantView>('POST', '/scope-grants', grant);
  expect(granted).toMatchObject({ status: 201, body: { granted_by: 'key:test', reason: 'on call this week' } });
  expect((await asked()).status).toBe(200);
  expect(await api.call('POST', '/scope-grants', grant)).toMatchObject({
    status: 409,
    body: { code: 'scope_granted_already' },
  });

  await api.call('DELETE', `/scope-grants/${granted.body.id}`);
  expect((await asked()).status).toBe(403);
});

it('who did what to keys and grants, and why, is in the history', async () => {
  const made = await api.call<{ id: string }>('POST', '/api-keys', { name: 'ci', reason: 'deploys' });
  await api.call('DELETE', `/api-keys/${made.body.id}`);
  const events = await api.database.db
    .selectFrom('events')
    .select(['kind', 'actor', 'data'])
    .where('actor', '=', 'key:test')
    .orderBy('id')
    .execute();
  expect(events).toMatchObject([
    { kind: 'scope_granted', data: { subject: 'alice', scope: 'admin', reason: 'on call this week' } },
    { kind: 'scope_revoked', data: { subject: 'alice', scope: 'admin' } },
    { kind: 'api_key_created', data: { name: 'ci', scopes: ['read'], reason: 'deploys' } },
    { kind: 'api_key_revoked', data: { name: 'ci' } },
  ]);
});
