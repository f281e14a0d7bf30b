import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import { overrideRequestSchema, rolloutOverridesSchema } from '@hoodcloud/contracts/http/policies';
import type { FastifyInstance } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database } from '../db/database.ts';
import { mutate, mutationSchema } from '../http/mutation.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import type { ChainLimits } from '../rollouts/load-rollout-snapshot.ts';
import { rolloutExists } from '../rollouts/rollout-read-model.ts';
import { lockRollout } from '../rollouts/rollout-row.ts';
import { overrideRule, overridesOf } from './rule-overrides.ts';

const tags = ['policies'];

/** `GET|POST /rollouts/{id}/overrides`: rules set aside for one rollout, by people who may. */
export function overrideRoutes(db: Database, chains: ChainLimits): (api: FastifyInstance) => void {
  return (api) => {
    const routes = typedRoutes(api);
    routes.get(
      '/rollouts/:id/overrides',
      {
        ...needs('read'),
        schema: {
          operationId: 'listRolloutOverrides',
          tags,
          params: idParamsSchema,
          response: { 200: rolloutOverridesSchema },
        },
      },
      async ({ params: { id } }) => {
        if (!(await rolloutExists(db, id))) throw notFound('rollout', id);
        return overridesOf(db, chains, id);
      },
    );
    routes.post(
      '/rollouts/:id/overrides',
      {
        ...needs('override'),
        schema: {
          operationId: 'overrideRule',
          tags,
          params: idParamsSchema,
          ...mutationSchema,
          body: overrideRequestSchema,
          response: { 200: rolloutOverridesSchema, 201: rolloutOverridesSchema },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        if (!(await rolloutExists(db, id))) throw notFound('rollout', id);
        return mutate(db, {
          request,
          reply,
          status: 201,
          work: async (tx) => {
            await lockRollout(tx, id);
            const { rule, reason, expires_in_seconds: expiresInSeconds } = request.body;
            await overrideRule(tx, chains, { rolloutId: id, rule, reason, expiresInSeconds, actor: actorOf(request) });
            return overridesOf(tx, chains, id);
          },
        });
      },
    );
  };
}
