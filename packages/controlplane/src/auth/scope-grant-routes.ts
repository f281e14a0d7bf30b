import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import {
  createScopeGrantSchema,
  type ScopeGrantView,
  scopeGrantListQuerySchema,
  scopeGrantPageSchema,
  scopeGrantSchema,
} from '@hoodcloud/contracts/http/scope-grants';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { mutate, mutationSchema } from '../http/mutation.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { actorOf } from './actor.ts';
import { needs } from './route-scope.ts';
import { grantScope, revokeScope, scopeGrantView } from './scope-grants.ts';

const tags = ['access'];

/** `GET|POST /scope-grants`, `DELETE /scope-grants/{id}`: what people with a JWT may do. */
export function scopeGrantRoutes(db: Database): (api: FastifyInstance) => void {
  return (api) => {
    const routes = typedRoutes(api);
    routes.get(
      '/scope-grants',
      {
        ...needs('admin'),
        schema: {
          operationId: 'listScopeGrants',
          tags,
          querystring: scopeGrantListQuerySchema,
          response: { 200: scopeGrantPageSchema },
        },
      },
      async ({ query: { cursor, limit, subject } }) => {
        let select = db
          .selectFrom('scope_grants')
          .selectAll()
          .orderBy('subject')
          .orderBy('id')
          .limit(limit + 1);
        if (subject !== undefined) select = select.where('subject', '=', subject);
        if (cursor) {
          const [after, id] = decodeCursor(cursor, ['text', 'uuid']);
          select = select.where(sql<boolean>`(subject, id) > (${after}, ${id}::uuid)`);
        }
        return toPage(await select.execute(), limit, scopeGrantView, (row) => [row.subject, row.id]);
      },
    );
    routes.post(
      '/scope-grants',
      {
        ...needs('admin'),
        schema: {
          operationId: 'createScopeGrant',
          tags,
          ...mutationSchema,
          body: createScopeGrantSchema,
          response: { 200: scopeGrantSchema, 201: scopeGrantSchema },
        },
      },
      (request, reply) =>
        mutate(db, {
          request,
          reply,
          status: 201,
          work: async (tx) => byId(tx, await grantScope(tx, { ...request.body, actor: actorOf(request) })),
        }),
    );
    routes.delete(
      '/scope-grants/:id',
      {
        ...needs('admin'),
        schema: {
          operationId: 'revokeScopeGrant',
          tags,
          params: idParamsSchema,
          ...mutationSchema,
          response: { 200: scopeGrantSchema },
        },
      },
      (request, reply) =>
        mutate(db, {
          request,
          reply,
          status: 200,
          work: async (tx) => {
            await revokeScope(tx, request.params.id, actorOf(request));
            return byId(tx, request.params.id);
          },
        }),
    );
  };
}

async function byId(db: Db, id: string): Promise<ScopeGrantView> {
  const row = await db.selectFrom('scope_grants').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) throw notFound('scope_grant', id);
  return scopeGrantView(row);
}
