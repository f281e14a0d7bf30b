import {
  type PolicyView,
  policyListQuerySchema,
  policyNameParamsSchema,
  policyPageSchema,
  policyParamsSchema,
  policySchema,
  putPolicySchema,
} from '@hoodcloud/contracts/http/policies';
import { POLICY_SPECS, type PolicyKind } from '@hoodcloud/contracts/policies/policy-document';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database, Db } from '../db/database.ts';
import { etagOf, requireMatch } from '../http/etag.ts';
import { conditionalMutationSchema, mutate } from '../http/mutation.ts';
import { decodeCursor, toPage } from '../http/page-cursor.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { isAsSaid, lockPolicy, type PolicyRef, removePolicy, writePolicy } from './policies.ts';
import { policyViews } from './policy-read-model.ts';

const tags = ['policies'];

/** `GET /policies`, `GET|PUT|DELETE /policies/{kind}/{name}`: what may never happen, and when. */
export function policyRoutes(db: Database): (api: FastifyInstance) => void {
  return (api) => {
    addReads(api, db);
    for (const kind of Object.keys(POLICY_SPECS) as PolicyKind[]) addPut(api, db, kind);
    addDelete(api, db);
  };
}

/** What a change is made upon. */
const etagOfPolicy = ({ id, revision }: Pick<PolicyView, 'id' | 'revision'>) => etagOf([id, revision]);
/** Of a policy that is not there, so that "make it, if nobody has meanwhile" can be said. */
const NO_POLICY = etagOf(['no policy']);

function addReads(api: FastifyInstance, db: Database): void {
  const routes = typedRoutes(api);
  routes.get(
    '/policies',
    {
      ...needs('read'),
      schema: {
        operationId: 'listPolicies',
        tags,
        querystring: policyListQuerySchema,
        response: { 200: policyPageSchema },
      },
    },
    async ({ query: { cursor, limit, kind, managed_by } }) => {
      let select = db
        .selectFrom('policies')
        .selectAll()
        .orderBy('kind')
        .orderBy('name')
        .limit(limit + 1);
      if (kind !== undefined) select = select.where('kind', '=', kind);
      if (managed_by !== undefined) select = select.where('managed_by', '=', managed_by);
      if (cursor) {
        const [afterKind, afterName] = decodeCursor(cursor, ['text', 'text']);
        select = select.where(sql<boolean>`(kind, name) > (${afterKind}, ${afterName})`);
      }
      const page = toPage(
        await select.execute(),
        limit,
        (row) => row,
        (row) => [row.kind, row.name],
      );
      return { ...page, items: await policyViews(db, page.items) };
    },
  );
  routes.get(
    '/policies/:kind/:name',
    {
      ...needs('read'),
      schema: { operationId: 'getPolicy', tags, params: policyParamsSchema, response: { 200: policySchema } },
    },
    async ({ params }, reply) => {
      const policy = await byRef(db, params);
      reply.header('etag', etagOfPolicy(policy));
      return policy;
    },
  );
}

/** The operation of each kind: `putDisruptionBudget`. */
function operationOf(kind: PolicyKind): string {
  return `put${kind.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function addPut(api: FastifyInstance, db: Database, kind: PolicyKind): void {
  typedRoutes(api).put(
    `/policies/${kind}/:name`,
    {
      ...needs('admin'),
      schema: {
        operationId: operationOf(kind),
        tags,
        params: policyNameParamsSchema,
        ...conditionalMutationSchema,
        body: putPolicySchema(kind),
        response: { 200: policySchema },
      },
    },
    (request, reply) =>
      mutate(db, {
        request,
        reply,
        status: 200,
        work: async (tx) => {
          const ref = { kind, name: request.params.name };
          const before = await lockPolicy(tx, ref);
          requireMatch(request, before ? etagOfPolicy(before) : NO_POLICY);
          const body = request.body as { spec: unknown; managed_by: string | null; reason?: string };
          // said again it changes nothing, and no rollout is woken for it
          if (!before || !isAsSaid(before, body)) {
            await writePolicy(tx, ref, before, { ...body, actor: actorOf(request) });
          }
          const policy = await byRef(tx, ref);
          reply.header('etag', etagOfPolicy(policy));
          return policy;
        },
      }),
  );
}

function addDelete(api: FastifyInstance, db: Database): void {
  typedRoutes(api).delete(
    '/policies/:kind/:name',
    {
      ...needs('admin'),
      schema: {
        operationId: 'deletePolicy',
        tags,
        params: policyParamsSchema,
        ...conditionalMutationSchema,
        response: { 200: policySchema },
      },
    },
    (request, reply) =>
      mutate(db, {
        request,
        reply,
        status: 200,
        work: async (tx) => {
          const row = await lockPolicy(tx, request.params);
          if (!row) throw notFound('policy', `${request.params.kind}/${request.params.name}`);
          requireMatch(request, etagOfPolicy(row));
          const policy = await byRef(tx, request.params);
          await removePolicy(tx, row, actorOf(request));
          return policy;
        },
      }),
  );
}

async function byRef(db: Db, { kind, name }: PolicyRef): Promise<PolicyView> {
  const row = await db
    .selectFrom('policies')
    .selectAll()
    .where('kind', '=', kind)
    .where('name', '=', name)
    .executeTakeFirst();
  const [policy] = row ? await policyViews(db, [row]) : [];
  if (!policy) throw notFound('policy', `${kind}/${name}`);
  return policy;
}
