import {
  type PolicyView,
  policyListQuerySchema,
  policyNameParamsSchema,
  policyPageSchema,
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

/**
 * `GET /policies`, `GET|PUT|DELETE /policies/{kind}/{name}`: what may never happen, and when. Each kind has its paths by its
 * own name, since each has a spec of its own, and a path's methods stand together in the description.
 */
export function policyRoutes(db: Database): (api: FastifyInstance) => void {
  return (api) => {
    addList(api, db);
    for (const kind of Object.keys(POLICY_SPECS) as PolicyKind[]) {
      addGet(api, db, kind);
      addPut(api, db, kind);
      addDelete(api, db, kind);
    }
  };
}

/** What a change is made upon. */
const etagOfPolicy = ({ id, revision }: Pick<PolicyView, 'id' | 'revision'>) => etagOf([id, revision]);
/** Of a policy that is not there, so that "make it, if nobody has meanwhile" can be said. */
const NO_POLICY = etagOf(['no policy']);

function addList(api: FastifyInstance, db: Database): void {
  typedRoutes(api).get(
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
}

const pathOf = (kind: PolicyKind) => `/policies/${kind}/:name`;

/** The operation of a kind: `putDisruptionBudget`. */
function operationOf(verb: 'get' | 'put' | 'delete', kind: PolicyKind): string {
  return `${verb}${kind.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function addGet(api: FastifyInstance, db: Database, kind: PolicyKind): void {
  typedRoutes(api).get(
    pathOf(kind),
    {
      ...needs('read'),
      schema: {
        operationId: operationOf('get', kind),
        tags,
        params: policyNameParamsSchema,
        response: { 200: policySchema },
      },
    },
    async ({ params: { name } }, reply) => {
      const policy = await byRef(db, { kind, name });
      reply.header('etag', etagOfPolicy(policy));
      return policy;
    },
  );
}

function addPut(api: FastifyInstance, db: Database, kind: PolicyKind): void {
  typedRoutes(api).put(
    pathOf(kind),
    {
      ...needs('admin'),
      schema: {
        operationId: operationOf('put', kind),
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

function addDelete(api: FastifyInstance, db: Database, kind: PolicyKind): void {
  typedRoutes(api).delete(
    pathOf(kind),
    {
      ...needs('admin'),
      schema: {
        operationId: operationOf('delete', kind),
        tags,
        params: policyNameParamsSchema,
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
          const ref = { kind, name: request.params.name };
          const row = await lockPolicy(tx, ref);
          if (!row) throw notFound('policy', `${kind}/${ref.name}`);
          requireMatch(request, etagOfPolicy(row));
          const policy = await byRef(tx, ref);
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
