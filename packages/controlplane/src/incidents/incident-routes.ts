import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import {
  DEFAULT_RUNBOOKS,
  type IncidentView,
  incidentListQuerySchema,
  incidentPageSchema,
  incidentSchema,
} from '@hoodcloud/contracts/http/incidents';
import { controlRequestSchema } from '@hoodcloud/contracts/http/rollout-requests';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database } from '../db/database.ts';
import { etagOf, requireMatch } from '../http/etag.ts';
import { conditionalMutationSchema, mutate } from '../http/mutation.ts';
import { notFound, ProblemError } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { findIncident, type IncidentReads, listIncidents } from './incident-read-model.ts';
import { acknowledgeIncident, resolveIncident } from './incident-service.ts';

const tags = ['incidents'];
const one = { params: idParamsSchema, response: { 200: incidentSchema } };

/**
 * `GET /incidents`, `GET /incidents/{id}`, `POST /incidents/{id}/acknowledge|resolve`.
 * @param runbooks where the runbooks are: a URL or a path
 */
export function incidentRoutes(db: Database, runbooks = DEFAULT_RUNBOOKS): (api: FastifyInstance) => void {
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
      ({ query }) => listIncidents({ db, runbooks }, query),
    );
    routes.get(
      '/incidents/:id',
      { ...needs('read'), schema: { operationId: 'getIncident', tags, ...one } },
      async ({ params }, reply) => {
        const incident = await incidentById({ db, runbooks }, params.id);
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
            work: (tx) =>
              order({ db: tx, runbooks }, request, kind, { id: request.params.id, reason: request.body.reason }),
          }),
      );
    }
  };
}

async function order(
  reads: IncidentReads,
  request: FastifyRequest,
  kind: 'acknowledge' | 'resolve',
  what: { readonly id: string; readonly reason: string | undefined },
): Promise<IncidentView> {
  const tx = reads.db;
  await tx.selectFrom('incidents').select('id').where('id', '=', what.id).forUpdate().execute();
  const incident = await incidentById(reads, what.id);
  requireMatch(request, incidentEtag(incident));
  if (kind === 'acknowledge' && incident.status === 'resolved') {
    throw new ProblemError(409, 'incident_resolved', 'The incident is resolved already.');
  }
  const settle = kind === 'acknowledge' ? acknowledgeIncident : resolveIncident;
  await settle(tx, { ...what, actor: actorOf(request) });
  return incidentById(reads, what.id);
}

function incidentEtag({ id, status, acknowledged_at, resolved_at }: IncidentView): string {
  return etagOf([id, status, acknowledged_at, resolved_at]);
}

async function incidentById(reads: IncidentReads, id: string): Promise<IncidentView> {
  const incident = await findIncident(reads, id);
  if (!incident) throw notFound('incident', id);
  return incident;
}
