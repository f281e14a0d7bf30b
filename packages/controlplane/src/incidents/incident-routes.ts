import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import {
  type IncidentView,
  incidentListQuerySchema,
  incidentPageSchema,
  incidentSchema,
} from '@hoodcloud/contracts/http/incidents';
import { controlRequestSchema } from '@hoodcloud/contracts/http/rollout-requests';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database, Db } from '../db/database.ts';
import { etagOf, requireMatch } from '../http/etag.ts';
import { conditionalMutationSchema, mutate } from '../http/mutation.ts';
import { notFound, ProblemError } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { findIncident, listIncidents } from './incident-read-model.ts';
import { acknowledgeIncident, resolveIncident } from './incident-service.ts';

const tags = ['incidents'];
const one = { params: idParamsSchema, response: { 200: incidentSchema } };

/** `GET /incidents`, `GET /incidents/{id}`, `POST /incidents/{id}/acknowledge|resolve`. */
export function incidentRoutes(db: Database): (api: FastifyInstance) => void {
  return (api) => {
    const routes = typedRoutes(api);
    routes.get(
      '/incidents',
      {
        ...needs('read'),
        schema: {
          operationId: 'listIncidents',
          tags,
          querystring: incidentListQuerySchema,
          response: { 200: incidentPageSchema },
        },
      },
      ({ query }) => listIncidents(db, query),
    );
    routes.get(
      '/incidents/:id',
      { ...needs('read'), schema: { operationId: 'getIncident', tags, ...one } },
      async ({ params }, reply) => {
        const incident = await incidentById(db, params.id);
        reply.header('etag', incidentEtag(incident));
        return incident;
      },
    );
    for (const kind of ['acknowledge', 'resolve'] as const) {
      routes.post(
        `/incidents/:id/${kind}`,
        {
          ...needs('operate'),
          schema: {
            operationId: `${kind}Incident`,
            tags,
            ...conditionalMutationSchema,
            body: controlRequestSchema,
            ...one,
          },
        },
        (request, reply) =>
          mutate(db, {
            request,
            reply,
            status: 200,
            work: (tx) => order(tx, request, kind, { id: request.params.id, reason: request.body.reason }),
          }),
      );
    }
  };
}

async function order(
  tx: Db,
  request: FastifyRequest,
  kind: 'acknowledge' | 'resolve',
  what: { readonly id: string; readonly reason: string | undefined },
): Promise<IncidentView> {
  await tx.selectFrom('incidents').select('id').where('id', '=', what.id).forUpdate().execute();
  const incident = await incidentById(tx, what.id);
  requireMatch(request, incidentEtag(incident));
  if (kind === 'acknowledge' && incident.status === 'resolved') {
    throw new ProblemError(409, 'incident_resolved', 'The incident is resolved already.');
  }
  const settle = kind === 'acknowledge' ? acknowledgeIncident : resolveIncident;
  await settle(tx, { ...what, actor: actorOf(request) });
  return incidentById(tx, what.id);
}

function incidentEtag({ id, status, acknowledged_at, resolved_at }: IncidentView): string {
  return etagOf([id, status, acknowledged_at, resolved_at]);
}

async function incidentById(db: Db, id: string): Promise<IncidentView> {
  const incident = await findIncident(db, id);
  if (!incident) throw notFound('incident', id);
  return incident;
}
