import { identitySchema } from '@hoodcloud/contracts/http/identity';
import { includesScope, SCOPES } from '@hoodcloud/contracts/http/scopes';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/database.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { identityOf } from './actor.ts';
import { apiKeyRoutes } from './api-key-routes.ts';
import { needs } from './route-scope.ts';
import { scopeGrantRoutes } from './scope-grant-routes.ts';

/** Who may call: API keys, and what is granted to people with a JWT; and who the caller is. */
export function accessRoutes(db: Database): (api: FastifyInstance) => void {
  return (api) => {
    typedRoutes(api).get(
      '/identity',
      {
        ...needs('read'),
        schema: { operationId: 'getIdentity', tags: ['access'], response: { 200: identitySchema } },
      },
      async (request) => {
        const { actor, scopes } = identityOf(request);
        return { actor, scopes: SCOPES.filter((scope) => includesScope(scopes, scope)) };
      },
    );
    apiKeyRoutes(db)(api);
    scopeGrantRoutes(db)(api);
  };
}
