import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import {
  channelParamsSchema,
  deliveryListQuerySchema,
  deliveryPageSchema,
  type NotificationChannelView,
  type NotificationDeliveryView,
  notificationChannelListSchema,
  notificationDeliverySchema,
  resendAnswerSchema,
} from '@hoodcloud/contracts/http/notifications';
import type { FastifyInstance } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database } from '../db/database.ts';
import { notFound, ProblemError } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { findChannel, findDelivery, listChannels, listDeliveries } from './notification-read-model.ts';
import { orderResend, orderTest } from './notification-service.ts';

const tags = ['notifications'];

/** `GET /notifications/channels|deliveries`, `POST /notifications/channels/{name}/test|retry`, `POST /notifications/deliveries/{id}/retry`. */
export function notificationRoutes(db: Database): (api: FastifyInstance) => void {
  return (api) => {
    channelRoutes(api, db);
    deliveryRoutes(api, db);
  };
}

function channelRoutes(api: FastifyInstance, db: Database): void {
  const routes = typedRoutes(api);
  const params = channelParamsSchema;
  routes.get(
    '/notifications/channels',
    {
      ...needs('read'),
      schema: { operationId: 'listNotificationChannels', tags, response: { 200: notificationChannelListSchema } },
    },
    async () => ({ items: await listChannels(db) }),
  );
  routes.post(
    '/notifications/channels/:name/test',
    {
      ...needs('operate'),
      schema: { operationId: 'testNotificationChannel', tags, params, response: { 202: notificationDeliverySchema } },
    },
    async (request, reply) => {
      const { name } = await configuredChannel(db, request.params.name);
      const id = await orderTest(db, name, actorOf(request));
      return reply.code(202).send(await deliveryById(db, id));
    },
  );
  routes.post(
    '/notifications/channels/:name/retry',
    {
      ...needs('operate'),
      schema: { operationId: 'retryDeadLetters', tags, params, response: { 202: resendAnswerSchema } },
    },
    async (request, reply) => {
      const { name } = await configuredChannel(db, request.params.name);
      return reply.code(202).send({ due: await orderResend(db, { channel: name }, actorOf(request)) });
    },
  );
}

function deliveryRoutes(api: FastifyInstance, db: Database): void {
  const routes = typedRoutes(api);
  const params = idParamsSchema;
  routes.get(
    '/notifications/deliveries',
    {
      ...needs('read'),
      schema: {
        operationId: 'listNotificationDeliveries',
        tags,
        querystring: deliveryListQuerySchema,
        response: { 200: deliveryPageSchema },
      },
    },
    ({ query }) => listDeliveries(db, query),
  );
  routes.get(
    '/notifications/deliveries/:id',
    {
      ...needs('read'),
      schema: { operationId: 'getNotificationDelivery', tags, params, response: { 200: notificationDeliverySchema } },
    },
    (request) => deliveryById(db, request.params.id),
  );
  routes.post(
    '/notifications/deliveries/:id/retry',
    {
      ...needs('operate'),
      schema: { operationId: 'retryDeadLetter', tags, params, response: { 202: notificationDeliverySchema } },
    },
    async (request, reply) => {
      const { id, channel } = await deliveryById(db, request.params.id);
      await configuredChannel(db, channel);
      if ((await orderResend(db, { id }, actorOf(request))) === 0) {
        throw new ProblemError(409, 'not_a_dead_letter', 'Only a message that was given up can be sent once more.');
      }
      return reply.code(202).send(await deliveryById(db, id));
    },
  );
}

/** @throws ProblemError 404 for a name that is unknown, 409 for a channel that nothing is sent to any more */
async function configuredChannel(db: Database, name: string): Promise<NotificationChannelView> {
  const channel = await findChannel(db, name);
  if (!channel) throw notFound('notification_channel', name);
  if (channel.configured) return channel;
  throw new ProblemError(409, 'channel_not_configured', `The configuration no longer names the channel ${name}.`);
}

async function deliveryById(db: Database, id: string): Promise<NotificationDeliveryView> {
  const delivery = await findDelivery(db, id);
  if (!delivery) throw notFound('notification_delivery', id);
  return delivery;
}
