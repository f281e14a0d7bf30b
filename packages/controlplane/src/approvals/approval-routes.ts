import { approvalListSchema } from '@hoodcloud/contracts/http/approvals';
import type { FastifyInstance } from 'fastify';
import { identityOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database } from '../db/database.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { listApprovals } from './approval-read-model.ts';

/** `GET /approvals`: what waits for a person, whatever it is; acting upon it are the rollout's and the group's own controls. */
export function approvalRoutes(db: Database): (api: FastifyInstance) => void {
  return (api) => {
    typedRoutes(api).get(
      '/approvals',
      {
        ...needs('read'),
        schema: { operationId: 'listApprovals', tags: ['approvals'], response: { 200: approvalListSchema } },
      },
      async (request) => ({ items: await listApprovals(db, identityOf(request)) }),
    );
  };
}
