import { dryRunQuerySchema, idParamsSchema } from '@hoodcloud/contracts/http/common';
import { rolloutPlanSchema } from '@hoodcloud/contracts/http/rollout-plan';
import { controlRequestSchema, createRolloutSchema } from '@hoodcloud/contracts/http/rollout-requests';
import {
  type RolloutDetail,
  rolloutDetailSchema,
  rolloutListQuerySchema,
  rolloutNodeListQuerySchema,
  rolloutNodeLogsSchema,
  rolloutNodePageSchema,
  rolloutNodeParamsSchema,
  rolloutPageSchema,
} from '@hoodcloud/contracts/http/rollout-views';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database, Db } from '../db/database.ts';
import { onceByKey } from '../http/idempotency.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { createRollout } from './create-rollout.ts';
import { type ControlOrder, orderControl } from './order-control.ts';
import type { RolloutSources } from './prepare-rollout.ts';
import { findRolloutNodeLogs, listRolloutNodes } from './rollout-node-read-model.ts';
import { planRollout } from './rollout-plan.ts';
import { findRollout, listRollouts, type RolloutReadSources, rolloutExists } from './rollout-read-model.ts';

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
        querystring: dryRunQuerySchema,
        body: createRolloutSchema,
        response: { 200: rolloutPlanSchema, 201: rolloutDetailSchema },
      },
    },
    async (request, reply) => {
      if (request.query.dry_run) return planRollout(db, sources, request.body);
      const created = await onceByKey(db, request, reply, async (tx) => {
        const id = await createRollout(tx, sources, request.body, actorOf(request));
        return rolloutById(tx, reads, id);
      });
      return reply.code(201).send(created);
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
    ({ body }) => planRollout(db, sources, body),
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
    ({ params }) => rolloutById(db, reads, params.id),
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
          querystring: dryRunQuerySchema,
          body: controlRequestSchema,
          response: { 200: rolloutDetailSchema },
        },
      },
      (request) =>
        order(parts, request, {
          rolloutId: request.params.id,
          kind,
          reason: request.body.reason,
          dryRun: request.query.dry_run,
        }),
    );
  }
}

function addNodeRoutes(api: FastifyInstance, parts: RolloutRouteParts): void {
  const { db } = parts;
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
      return listRolloutNodes(db, params.id, query);
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
          querystring: dryRunQuerySchema,
          body: controlRequestSchema,
          response: { 200: rolloutDetailSchema },
        },
      },
      (request) =>
        order(parts, request, {
          rolloutId: request.params.id,
          kind,
          nodeId: request.params.nodeId,
          reason: request.body.reason,
          dryRun: request.query.dry_run,
        }),
    );
  }
}

/** Takes a control and answers with the rollout as it is then. */
async function order(
  { db, sources, reads }: RolloutRouteParts,
  request: FastifyRequest,
  what: Omit<ControlOrder, 'actor'>,
): Promise<RolloutDetail> {
  await requireRollout(db, what.rolloutId);
  await db.transaction().execute((tx) => orderControl(tx, sources, { ...what, actor: actorOf(request) }));
  return rolloutById(db, reads, what.rolloutId);
}

async function rolloutById(db: Db, reads: RolloutReadSources, id: string): Promise<RolloutDetail> {
  const rollout = await findRollout(db, reads, id);
  if (!rollout) throw notFound('rollout', id);
  return rollout;
}

async function requireRollout(db: Db, id: string): Promise<void> {
  if (!(await rolloutExists(db, id))) throw notFound('rollout', id);
}
