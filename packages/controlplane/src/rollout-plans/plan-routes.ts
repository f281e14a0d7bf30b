import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import {
  type SavedPlanDetail,
  savedPlanDetailSchema,
  savedPlanListQuerySchema,
  savedPlanPageSchema,
  saveRolloutPlanSchema,
} from '@hoodcloud/contracts/http/rollout-plans';
import { controlRequestSchema } from '@hoodcloud/contracts/http/rollout-requests';
import { rolloutDetailSchema } from '@hoodcloud/contracts/http/rollout-views';
import type { FastifyInstance } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database, Db } from '../db/database.ts';
import { mutate, mutationSchema } from '../http/mutation.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import type { RolloutSources } from '../rollouts/prepare-rollout.ts';
import { findRollout, type RolloutReadSources } from '../rollouts/rollout-read-model.ts';
import { makePlan, savePlan } from './save-plan.ts';
import { findPlan, listPlans } from './saved-plan-read-model.ts';
import { startPlan } from './start-plan.ts';

export interface PlanRouteParts {
  readonly db: Database;
  readonly sources: RolloutSources;
  readonly reads: RolloutReadSources;
}

const tags = ['rollouts'];

/** `POST|GET /rollout-plans`, `GET /rollout-plans/{id}`, `POST /rollout-plans/{id}/start`. */
export function planRoutes(parts: PlanRouteParts): (api: FastifyInstance) => void {
  return (api) => {
    addSaving(api, parts);
    addReads(api, parts);
    addStart(api, parts);
  };
}

function addSaving(api: FastifyInstance, { db, sources }: PlanRouteParts): void {
  typedRoutes(api).post(
    '/rollout-plans',
    {
      ...needs('admin'),
      schema: {
        operationId: 'saveRolloutPlan',
        tags,
        ...mutationSchema,
        body: saveRolloutPlanSchema,
        response: { 200: savedPlanDetailSchema, 201: savedPlanDetailSchema },
      },
    },
    async (request, reply) => {
      const made = await makePlan(db, sources, request.body.request);
      return mutate(db, {
        request,
        reply,
        status: 201,
        work: async (tx) => planById(tx, sources, await savePlan(tx, request.body, made, actorOf(request))),
      });
    },
  );
}

function addReads(api: FastifyInstance, { db, sources }: PlanRouteParts): void {
  const routes = typedRoutes(api);
  routes.get(
    '/rollout-plans',
    {
      ...needs('read'),
      schema: {
        operationId: 'listRolloutPlans',
        tags,
        querystring: savedPlanListQuerySchema,
        response: { 200: savedPlanPageSchema },
      },
    },
    ({ query }) => listPlans(db, query),
  );
  routes.get(
    '/rollout-plans/:id',
    {
      ...needs('read'),
      schema: { operationId: 'getRolloutPlan', tags, params: idParamsSchema, response: { 200: savedPlanDetailSchema } },
    },
    ({ params }) => planById(db, sources, params.id),
  );
}

function addStart(api: FastifyInstance, { db, sources, reads }: PlanRouteParts): void {
  typedRoutes(api).post(
    '/rollout-plans/:id/start',
    {
      // it creates a rollout
      ...needs('admin'),
      schema: {
        operationId: 'startRolloutPlan',
        tags,
        params: idParamsSchema,
        ...mutationSchema,
        body: controlRequestSchema,
        response: { 200: rolloutDetailSchema, 201: rolloutDetailSchema },
      },
    },
    (request, reply) =>
      mutate(db, {
        request,
        reply,
        status: 201,
        work: async (tx) => {
          const order = { planId: request.params.id, actor: actorOf(request), reason: request.body.reason };
          const rolloutId = await startPlan(tx, sources, order);
          const rollout = await findRollout(tx, reads, rolloutId);
          if (!rollout) throw notFound('rollout', rolloutId);
          return rollout;
        },
      }),
  );
}

async function planById(db: Db, sources: RolloutSources, id: string): Promise<SavedPlanDetail> {
  const plan = await findPlan(db, sources, id);
  if (!plan) throw notFound('rollout_plan', id);
  return plan;
}
