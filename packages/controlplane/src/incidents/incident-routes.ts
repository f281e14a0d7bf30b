import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import {
  type IncidentView,
  incidentListQuerySchema,
  incidentPageSchema,
  incidentSchema,
} from '@hoodcloud/contracts/http/incidents';
import type { FastifyInstance } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database, Db } from '../db/database.ts';
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
      ({ params }) => incidentById(db, params.id),
    );
    routes.post(
      '/incidents/:id/acknowledge',
      { ...needs('operate'), schema: { operationId: 'acknowledgeIncident', tags, ...one } },
      async (request) => {
        const { id, status } = await incidentById(db, request.params.id);
        if (status === 'resolved')
          throw new ProblemError(409, 'incident_resolved', 'The incident is resolved already.');
        await db.transaction().execute((tx) => acknowledgeIncident(tx, id, actorOf(request)));
        return incidentById(db, id);
      },
    );
    routes.post(
      '/incidents/:id/resolve',
      { ...needs('operate'), schema: { operationId: 'resolveIncident', tags, ...one } },
      async (request) => {
        const { id } = await incidentById(db, request.params.id);
        await db.transaction().execute((tx) => resolveIncident(tx, id, actorOf(request)));
        return incidentById(db, id);
      },
    );
  };
}

async function incidentById(db: Db, id: string): Promise<IncidentView> {
  const incident = await findIncident(db, id);
  if (!incident) throw notFound('incident', id);
  return incident;
}
