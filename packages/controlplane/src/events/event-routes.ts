import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import {
  auditPageSchema,
  auditQuerySchema,
  type EventListQuery,
  eventListQuerySchema,
  eventPageSchema,
} from '@hoodcloud/contracts/http/events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { needs } from '../auth/route-scope.ts';
import type { Database } from '../db/database.ts';
import type { Notifications } from '../db/notifications.ts';
import type { Logger } from '../feature.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { groupExists } from '../rollout-groups/group-read-model.ts';
import { rolloutExists } from '../rollouts/rollout-read-model.ts';
import { EventFeed } from './event-feed.ts';
import { listAudit, listEvents } from './event-read-model.ts';
import { streamEvents } from './event-stream.ts';

const tags = ['events'];

export interface EventRouteParts {
  readonly db: Database;
  readonly notifications: Pick<Notifications, 'listen'>;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * `GET /events`, `GET /rollouts/{id}/events` and `GET /rollout-groups/{id}/events`: a JSON list, or server-sent events when the client accepts
 * `text/event-stream`. `GET /audit` is the same history for people, the newest first.
 */
export function eventRoutes(given: EventRouteParts): (api: FastifyInstance) => void {
  const parts = { ...given, feed: new EventFeed(given) };
  return (api) => {
    const routes = typedRoutes(api);
    const answers = { querystring: eventListQuerySchema, response: { 200: eventPageSchema } };
    routes.get(
      '/events',
      { ...needs('read'), schema: { operationId: 'listEvents', tags, ...answers } },
      (request, reply) => answer(parts, request, reply, request.query),
    );
    routes.get(
      '/audit',
      {
        ...needs('read'),
        schema: { operationId: 'listAudit', tags, querystring: auditQuerySchema, response: { 200: auditPageSchema } },
      },
      ({ query }) => listAudit(parts.db, query),
    );
    routes.get(
      '/rollouts/:id/events',
      { ...needs('read'), schema: { operationId: 'listRolloutEvents', tags, params: idParamsSchema, ...answers } },
      async (request, reply) => {
        const { id: rolloutId } = request.params;
        if (!(await rolloutExists(parts.db, rolloutId))) throw notFound('rollout', rolloutId);
        return answer(parts, request, reply, { ...request.query, rolloutId });
      },
    );
    routes.get(
      '/rollout-groups/:id/events',
      { ...needs('read'), schema: { operationId: 'listRolloutGroupEvents', tags, params: idParamsSchema, ...answers } },
      async (request, reply) => {
        const { id: groupId } = request.params;
        if (!(await groupExists(parts.db, groupId))) throw notFound('rollout_group', groupId);
        return answer(parts, request, reply, { ...request.query, groupId });
      },
    );
  };
}

async function answer(
  parts: EventRouteParts & { readonly feed: EventFeed },
  request: FastifyRequest,
  reply: FastifyReply,
  { node_id: nodeId, rolloutId, groupId, ...query }: EventListQuery & { rolloutId?: string; groupId?: string },
) {
  const only = { ...(rolloutId && { rolloutId }), ...(groupId && { groupId }), ...(nodeId && { nodeId }) };
  if (!String(request.headers.accept ?? '').includes('text/event-stream')) {
    return listEvents(parts.db, { ...query, ...only });
  }
  const after = lastEventId(request) ?? query.after;
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  reply.raw.flushHeaders();
  try {
    await streamEvents(reply.raw, parts, { after, ...only });
  } catch (error) {
    // the head is sent, so no problem can be: the client finds the stream ended and goes on after its last event
    parts.log.warn({ err: error, request_id: request.id }, 'an event stream was ended');
  }
  return reply;
}

/** Where a client that lost its stream goes on; null when the header is absent or none of ours. */
function lastEventId(request: FastifyRequest): number | null {
  const id = Number(request.headers['last-event-id'] ?? Number.NaN);
  return Number.isSafeInteger(id) && id >= 0 ? id : null;
}
