import type { Problem } from '@hoodcloud/contracts/http/problem';
import { includesScope, SCOPES, type Scope } from '@hoodcloud/contracts/http/scopes';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../http/testing/api-fixture.ts';
import { createApiKey } from './api-keys.ts';
import { demandScopes, needs } from './route-scope.ts';

/** What each operation needs, written down a second time: who changes a route's scope has to say so here too. */
const NEEDED: Readonly<Record<Scope, readonly string[]>> = {
  read: [
    'listRollouts',
    'getRollout',
    'getRolloutBatches',
    'listRolloutOverrides',
    'listPolicies',
    'getDisruptionBudget',
    'getMaintenanceWindow',
    'getFreeze',
    'planRollout',
    'listRolloutPlans',
    'getRolloutPlan',
    'listRolloutGroups',
    'getRolloutGroup',
    'getRolloutGroupStatus',
    'listRolloutGroupEvents',
    'listRolloutNodes',
    'listNodes',
    'getNode',
    'getFleetSummary',
    'listNodeUpgrades',
    'listApprovals',
    'listAudit',
    'getIdentity',
    'listChains',
    'getChain',
    'listManifests',
    'listIncidents',
    'getIncident',
    'listEvents',
    'listRolloutEvents',
    'listNotificationChannels',
    'listNotificationDeliveries',
    'getNotificationDelivery',
  ],
  operate: [
    'startRollout',
    'pauseRollout',
    'resumeRollout',
    'cancelRollout',
    'approveRollout',
    'rollbackRollout',
    'retryRolloutNode',
    'skipRolloutNode',
    'startRolloutGroup',
    'pauseRolloutGroup',
    'resumeRolloutGroup',
    'cancelRolloutGroup',
    'rollbackRolloutGroup',
    'skipRolloutGroupComponent',
    'getRolloutNodeLogs',
    'nameVersion',
    'holdNode',
    'pinNode',
    'releaseNode',
    'acknowledgeIncident',
    'resolveIncident',
    'testNotificationChannel',
    'retryDeadLetters',
    'retryDeadLetter',
  ],
  override: ['overrideRule'],
  admin: [
    'createRollout',
    'saveRolloutPlan',
    'startRolloutPlan',
    'createRolloutGroup',
    'forceRollout',
    'putDisruptionBudget',
    'putMaintenanceWindow',
    'putFreeze',
    'deleteDisruptionBudget',
    'deleteMaintenanceWindow',
    'deleteFreeze',
    'createNode',
    'createJoinToken',
    'listApiKeys',
    'createApiKey',
    'revokeApiKey',
    'listScopeGrants',
    'createScopeGrant',
    'revokeScopeGrant',
  ],
};

interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
}

let api: ApiFixture;
let operations: Operation[];
const keys = new Map<string, string>();
beforeAll(async () => {
  api = await ApiFixture.create();
  const { paths } = JSON.parse((await api.app.inject({ url: '/openapi.json' })).body);
  operations = Object.entries<Record<string, { operationId: string }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      id: operationId,
      method: method.toUpperCase() as Operation['method'],
      path: path
        .replace(/^\/api\/v1/, '')
        .replace('{binary}', 'cometbft')
        .replace('{name}', 'ops')
        .replaceAll(/\{\w+\}/g, '11111111-1111-4111-8111-111111111111'),
    })),
  );
  for (const scope of SCOPES) {
    const { key } = await createApiKey(api.database.db, { name: scope, createdBy: 'system:test', scopes: [scope] });
    keys.set(scope, key);
  }
  const none = await createApiKey(api.database.db, { name: 'none', createdBy: 'system:test', scopes: [] });
  keys.set('none', none.key);
});
afterAll(() => api.dispose());

const neededOf = (id: string): Scope | undefined => SCOPES.find((scope) => NEEDED[scope].includes(id));

describe('scopes (spec, API Surface)', () => {
  it('no operation lacks a scope, and the table of this test names each', () => {
    expect(operations.map(({ id }) => id).filter((id) => neededOf(id) === undefined)).toEqual([]);
  });

  it.each(['nobody', 'none', ...SCOPES])('%s reaches exactly the operations of its scope', async (who) => {
    const authorization = who === 'nobody' ? '' : `Bearer ${keys.get(who)}`;
    for (const { id, method, path } of operations) {
      const body = method === 'POST' || method === 'PUT' ? {} : undefined;
      const answer = await api.call<Problem>(method, path, body, { authorization });
      const needed = neededOf(id) ?? 'admin';
      const reached = who !== 'nobody' && includesScope([who], needed);
      const refusal = who === 'nobody' ? [401, 'unauthorized'] : [403, 'scope_missing'];
      if (reached) expect([401, 403], `${who} ${id}`).not.toContain(answer.status);
      else expect([answer.status, answer.body.code], `${who} ${id}`).toEqual(refusal);
    }
  });

  it('a key that may operate can not make itself a key that may more (admin is granted by the backend only)', async () => {
    const authorization = `Bearer ${keys.get('operate')}`;
    const { status } = await api.call('POST', '/api-keys', { name: 'mine', scopes: ['admin'] }, { authorization });
    expect(status).toBe(403);
  });

  it('a key for which nobody named a scope may only look', async () => {
    const { body } = await api.call<{ scopes: string[] }>('POST', '/api-keys', { name: 'unsaid' });
    expect(body.scopes).toEqual(['read']);
  });

  it('a server with a route without a scope does not start', async () => {
    const app = Fastify();
    demandScopes(app);
    app.get('/fine', { ...needs('read') }, async () => ({}));
    expect(() => app.get('/forgotten', async () => ({}))).toThrow('GET /forgotten states no scope');
  });
});
