import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import { rolloutPlanSchema } from '@hoodcloud/contracts/http/rollout-plan';
import { controlRequestSchema, createRolloutSchema } from '@hoodcloud/contracts/http/rollout-requests';
import {
  type RolloutDetail,
  rolloutBatchesSchema,
  rolloutDetailSchema,
  rolloutListQuerySchema,
  rolloutNodeListQuerySchema,
  rolloutNodeLogsSchema,
  rolloutNodePageSchema,
  rolloutNodeParamsSchema,
  rolloutPageSchema,
} from '@hoodcloud/contracts/http/rollout-views';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { actorOf, mayCreate } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database, Db } from '../db/database.ts';
import { requireMatch } from '../http/etag.ts';
import { conditionalMutationSchema, mutate, mutationSchema } from '../http/mutation.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { createRollout } from './create-rollout.ts';
import { type ControlOrder, orderControl } from './order-control.ts';
import type { RolloutSources } from './prepare-rollout.ts';
import { findRolloutBatches } from './rollout-batches.ts';
import { rolloutEtag } from './rollout-etag.ts';
import { findRolloutNodeLogs, listRolloutNodes } from './rollout-node-read-model.ts';
import { planRollout } from './rollout-plan.ts';
import { findRollout, listRollouts, type RolloutReadSources, rolloutExists } from './rollout-read-model.ts';
import { lockRollout } from './rollout-row.ts';

export interface RolloutRouteParts {
  readonly db: Database;
  readonly sources: RolloutSources;
  readonly reads: RolloutReadSources;
}

const tags = ['rollouts'];

/** Controls of a whole rollout by the last part of their path (spec "Rollout Endpoints", C1). */
const CONTROLS = {
  start: 'start',
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
  force: 'force',
  approve: 'approve_canary',
  rollback: 'rollback',
} as const;

/** Every endpoint of a rollout but its events. */
export function rolloutRoutes(parts: RolloutRouteParts): (api: FastifyInstance) => void {
  return (api) => {
    addCreation(api, parts);
    addReads(api, parts);
    addControls(api, parts);
    addNodeRoutes(api, parts);
  };
}

function addCreation(api: FastifyInstance, { db, sources, reads }: RolloutRouteParts): void {
  const routes = typedRoutes(api);
  routes.post(
    '/rollouts',
    {
      ...needs('admin'),
      schema: {
        operationId: 'createRollout',
        tags,
        ...mutationSchema,
        body: createRolloutSchema,
        response: { 200: rolloutPlanSchema, 201: rolloutDetailSchema },
      },
    },
    async (request, reply) => {
      if (request.query.dry_run) return planRollout(db, sources, request.body, { mayCreate: true });
      return mutate(db, {
        request,
        reply,
        status: 201,
        work: async (tx) => {
          const id = await createRollout(tx, sources, request.body, actorOf(request));
          return rolloutById(tx, reads, id);
        },
      });
    },
  );
  routes.post(
    '/rollouts/plan',
    {
      ...needs('read'),
      schema: {
        operationId: 'planRollout',
        tags,
        body: createRolloutSchema,
        response: { 200: rolloutPlanSchema },
      },
    },
    (request) => planRollout(db, sources, request.body, { mayCreate: mayCreate(request) }),
  );
}

function addReads(api: FastifyInstance, { db, reads }: RolloutRouteParts): void {
  const routes = typedRoutes(api);
  routes.get(
    '/rollouts',
    {
      ...needs('read'),
      schema: {
        operationId: 'listRollouts',
        tags,
        querystring: rolloutListQuerySchema,
        response: { 200: rolloutPageSchema },
      },
    },
    ({ query }) => listRollouts(db, query),
  );
  routes.get(
    '/rollouts/:id',
    {
      ...needs('read'),
      schema: { operationId: 'getRollout', tags, params: idParamsSchema, response: { 200: rolloutDetailSchema } },
    },
    async ({ params }, reply) => {
      const rollout = await rolloutById(db, reads, params.id);
      reply.header('etag', await rolloutEtag(db, params.id));
      return rollout;
    },
  );
}

function addControls(api: FastifyInstance, parts: RolloutRouteParts): void {
  const routes = typedRoutes(api);
  for (const [path, kind] of Object.entries(CONTROLS)) {
    routes.post(
      `/rollouts/:id/${path}`,
      {
        ...needs(path === 'force' ? 'admin' : 'operate'),
        schema: {
          operationId: `${path}Rollout`,
          tags,
          params: idParamsSchema,
          ...conditionalMutationSchema,
          body: controlRequestSchema,
          response: { 200: rolloutDetailSchema },
        },
      },
      (request, reply) =>
        order(parts, request, reply, {
          rolloutId: request.params.id,
          kind,
          reason: request.body.reason,
        }),
    );
  }
}

function addNodeRoutes(api: FastifyInstance, parts: RolloutRouteParts): void {
  const { db, reads } = parts;
  const routes = typedRoutes(api);
  routes.get(
    '/rollouts/:id/nodes',
    {
      ...needs('read'),
      schema: {
        operationId: 'listRolloutNodes',
        tags,
        params: idParamsSchema,
        querystring: rolloutNodeListQuerySchema,
        response: { 200: rolloutNodePageSchema },
      },
    },
    async ({ params, query }) => {
      await requireRollout(db, params.id);
      return listRolloutNodes(db, reads.chains, params.id, query);
    },
  );
  routes.get(
    '/rollouts/:id/batches',
    {
      ...needs('read'),
      schema: {
        operationId: 'getRolloutBatches',
        tags,
        params: idParamsSchema,
        response: { 200: rolloutBatchesSchema },
      },
    },
    async ({ params }) => {
      await requireRollout(db, params.id);
      return findRolloutBatches(db, params.id);
    },
  );
  routes.get(
    '/rollouts/:id/nodes/:nodeId/logs',
    {
      ...needs('operate'),
      schema: {
        operationId: 'getRolloutNodeLogs',
        tags,
        params: rolloutNodeParamsSchema,
        response: { 200: rolloutNodeLogsSchema },
      },
    },
    async ({ params }) => {
      const logs = await findRolloutNodeLogs(db, params.id, params.nodeId);
      if (!logs) throw notFound('rollout_node', params.nodeId);
      return logs;
    },
  );
  for (const kind of ['retry', 'skip'] as const) {
    routes.post(
      `/rollouts/:id/nodes/:nodeId/${kind}`,
      {
        ...needs('operate'),
        schema: {
          operationId: `${kind}RolloutNode`,
          tags,
          params: rolloutNodeParamsSchema,
          ...conditionalMutationSchema,
          body: controlRequestSchema,
          response: { 200: rolloutDetailSchema },
        },
      },
      (request, reply) =>
        order(parts, request, reply, {
          rolloutId: request.params.id,
          kind,
          nodeId: request.params.nodeId,
          reason: request.body.reason,
        }),
    );
  }
}

/** Takes a control and answers with the rollout as it is then. */
async function order(
  { db, sources, reads }: RolloutRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  what: Omit<ControlOrder, 'actor'>,
): Promise<RolloutDetail> {
  await requireRollout(db, what.rolloutId);
  return mutate(db, {
    request,
    reply,
    status: 200,
    work: async (tx) => {
      await lockRollout(tx, what.rolloutId);
      requireMatch(request, await rolloutEtag(tx, what.rolloutId));
      await orderControl(tx, sources, { ...what, actor: actorOf(request) });
      reply.header('etag', await rolloutEtag(tx, what.rolloutId));
      return rolloutById(tx, reads, what.rolloutId);
    },
  });
}

async function rolloutById(db: Db, reads: RolloutReadSources, id: string): Promise<RolloutDetail> {
  const rollout = await findRollout(db, reads, id);
  if (!rollout) throw notFound('rollout', id);
  return rollout;
}

async function requireRollout(db: Db, id: string): Promise<void> {
  if (!(await rolloutExists(db, id))) throw notFound('rollout', id);
}
