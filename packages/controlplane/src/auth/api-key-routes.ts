import {
  type ApiKeyView,
  apiKeyPageSchema,
  apiKeySchema,
  type CreatedApiKey,
  createApiKeySchema,
  createdApiKeySchema,
} from '@hoodcloud/contracts/http/api-keys';
import { idParamsSchema, pageQuerySchema } from '@hoodcloud/contracts/http/common';
import type { FastifyInstance } from 'fastify';
import type { Selectable } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import type { ApiKeysTable } from '../db/generated/tables.ts';
import { mutate, mutationSchema } from '../http/mutation.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { notFound } from '../http/problem-error.ts';
import { timestamp, timestampOrNull } from '../http/timestamps.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { actorOf } from './actor.ts';
import { createApiKey, knownScopes, revokeApiKey } from './api-keys.ts';
import { needs } from './route-scope.ts';

/** `GET|POST /api-keys`, `DELETE /api-keys/{id}`. */
export function apiKeyRoutes(db: Database): (api: FastifyInstance) => void {
  return (api) => {
    const routes = typedRoutes(api);
    routes.get(
      '/api-keys',
      {
        ...needs('admin'),
        schema: {
          operationId: 'listApiKeys',
          tags: ['access'],
          querystring: pageQuerySchema,
          response: { 200: apiKeyPageSchema },
        },
      },
      async ({ query: { cursor, limit } }) => {
        let select = db
          .selectFrom('api_keys')
          .selectAll()
          .orderBy('name')
          .limit(limit + 1);
        if (cursor) select = select.where('name', '>', String(decodeCursor(cursor, ['text'])[0]));
        return toPage(await select.execute(), limit, view, (row) => [row.name]);
      },
    );
    routes.post(
      '/api-keys',
      {
        ...needs('admin'),
        schema: {
          operationId: 'createApiKey',
          tags: ['access'],
          ...mutationSchema,
          body: createApiKeySchema,
          response: { 200: createdApiKeySchema, 201: createdApiKeySchema },
        },
      },
      (request, reply) =>
        mutate<CreatedApiKey>(db, {
          request,
          reply,
          status: 201,
          work: async (tx) => {
            const { name, scopes, reason } = request.body;
            const { id, key } = await createApiKey(tx, { name, scopes, reason, createdBy: actorOf(request) });
            return { ...view(await byId(tx, id)), secret: key };
          },
          withoutSecret: (created) => ({ ...created, secret: '' }),
        }),
    );
    routes.delete(
      '/api-keys/:id',
      {
        ...needs('admin'),
        schema: {
          operationId: 'revokeApiKey',
          tags: ['access'],
          params: idParamsSchema,
          ...mutationSchema,
          response: { 200: apiKeySchema },
        },
      },
      (request, reply) =>
        mutate(db, {
          request,
          reply,
          status: 200,
          work: async (tx) => {
            const { id } = request.params;
            await revokeApiKey(tx, id, actorOf(request));
            return view(await byId(tx, id));
          },
        }),
    );
  };
}

async function byId(db: Db, id: string): Promise<Selectable<ApiKeysTable>> {
  const row = await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) throw notFound('api_key', id);
  return row;
}

function view(row: Selectable<ApiKeysTable>): ApiKeyView {
  return {
    id: row.id,
    name: row.name,
    scopes: knownScopes(row.scopes),
    created_by: row.created_by,
    created_at: timestamp(row.created_at),
    last_used_at: timestampOrNull(row.last_used_at),
    revoked_at: timestampOrNull(row.revoked_at),
  };
}
