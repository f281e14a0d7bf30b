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
import type { Database, Db } from '../db/database.ts';
import { mutate, mutationSchema } from '../http/mutation.ts';
import { notFound, ProblemError } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { findChannel, findDelivery, listChannels, listDeliveries } from './notification-read-model.ts';
import { orderResend, orderTest } from './notification-service.ts';

const tags = ['notifications'];
/** 202: it is sent a moment later; 200: of a dry run. */
const orderedDelivery = { response: { 200: notificationDeliverySchema, 202: notificationDeliverySchema } };

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
      schema: { operationId: 'testNotificationChannel', tags, params, ...mutationSchema, ...orderedDelivery },
    },
    (request, reply) =>
      mutate(db, {
        request,
        reply,
        status: 202,
        work: async (tx) => {
          const { name } = await configuredChannel(tx, request.params.name);
          return deliveryById(tx, await orderTest(tx, name, actorOf(request)));
        },
      }),
  );
  routes.post(
    '/notifications/channels/:name/retry',
    {
      ...needs('operate'),
      schema: {
        operationId: 'retryDeadLetters',
        tags,
        params,
        ...mutationSchema,
        response: { 200: resendAnswerSchema, 202: resendAnswerSchema },
      },
    },
    (request, reply) =>
      mutate(db, {
        request,
        reply,
        status: 202,
        work: async (tx) => {
          const { name } = await configuredChannel(tx, request.params.name);
          return { due: await orderResend(tx, { channel: name }, actorOf(request)) };
        },
      }),
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
      schema: { operationId: 'retryDeadLetter', tags, params, ...mutationSchema, ...orderedDelivery },
    },
    (request, reply) =>
      mutate(db, {
        request,
        reply,
        status: 202,
        work: async (tx) => {
          const { id, channel } = await deliveryById(tx, request.params.id);
          await configuredChannel(tx, channel);
          if ((await orderResend(tx, { id }, actorOf(request))) === 0) {
            throw new ProblemError(409, 'not_a_dead_letter', 'Only a message that was given up can be sent once more.');
          }
          return deliveryById(tx, id);
        },
      }),
  );
}

/** @throws ProblemError 404 for a name that is unknown, 409 for a channel that nothing is sent to any more */
async function configuredChannel(db: Db, name: string): Promise<NotificationChannelView> {
  const channel = await findChannel(db, name);
  if (!channel) throw notFound('notification_channel', name);
  if (channel.configured) return channel;
  throw new ProblemError(409, 'channel_not_configured', `The configuration no longer names the channel ${name}.`);
}

async function deliveryById(db: Db, id: string): Promise<NotificationDeliveryView> {
  const delivery = await findDelivery(db, id);
  if (!delivery) throw notFound('notification_delivery', id);
  return delivery;
}
