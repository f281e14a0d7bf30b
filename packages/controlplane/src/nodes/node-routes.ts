import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import {
  createNodeSchema,
  joinTokenRequestSchema,
  joinTokenSchema,
  type NodeView,
  nameVersionSchema,
  nodeComponentParamsSchema,
  nodeListQuerySchema,
  nodePageSchema,
  nodeSchema,
} from '@hoodcloud/contracts/http/nodes';
import type { FastifyInstance } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database, Db } from '../db/database.ts';
import { mutate, mutationSchema } from '../http/mutation.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import type { ChainFiles } from '../manifests/chain-files.ts';
import { nameByOperator } from './naming.ts';
import { findNode, listNodes } from './node-read-model.ts';
import { addNode, issueJoinToken } from './node-service.ts';

const tags = ['nodes'];

/** `GET|POST /nodes`, `GET /nodes/{id}`, join tokens and naming what runs. */
export function nodeRoutes(db: Database, chains: ChainFiles): (api: FastifyInstance) => void {
  return (api) => {
    const routes = typedRoutes(api);
    routes.get(
      '/nodes',
      {
        ...needs('read'),
        schema: { operationId: 'listNodes', tags, querystring: nodeListQuerySchema, response: { 200: nodePageSchema } },
      },
      ({ query }) => listNodes(db, query),
    );
    routes.post(
      '/nodes',
      {
        ...needs('admin'),
        schema: {
          operationId: 'createNode',
          tags,
          ...mutationSchema,
          body: createNodeSchema,
          response: { 200: nodeSchema, 201: nodeSchema },
        },
      },
      (request, reply) =>
        mutate(db, {
          request,
          reply,
          status: 201,
          work: async (tx) => nodeById(tx, await addNode(tx, chains, request.body, actorOf(request))),
        }),
    );
    routes.get(
      '/nodes/:id',
      {
        ...needs('read'),
        schema: { operationId: 'getNode', tags, params: idParamsSchema, response: { 200: nodeSchema } },
      },
      ({ params }) => nodeById(db, params.id),
    );
    routes.post(
      '/nodes/:id/join-token',
      {
        ...needs('admin'),
        schema: {
          operationId: 'createJoinToken',
          tags,
          params: idParamsSchema,
          ...mutationSchema,
          body: joinTokenRequestSchema,
          response: { 200: joinTokenSchema, 201: joinTokenSchema },
        },
      },
      (request, reply) =>
        mutate(db, {
          request,
          reply,
          status: 201,
          work: async (tx) => {
            const { id: nodeId } = await nodeById(tx, request.params.id);
            const { expires_in_seconds: expiresInSeconds, reason } = request.body;
            return issueJoinToken(tx, { nodeId, expiresInSeconds, reason, actor: actorOf(request) });
          },
          withoutSecret: (view) => ({ ...view, join_token: '' }),
        }),
    );
    routes.post(
      '/nodes/:id/components/:binary/version',
      {
        ...needs('operate'),
        schema: {
          operationId: 'nameVersion',
          tags,
          params: nodeComponentParamsSchema,
          ...mutationSchema,
          body: nameVersionSchema,
          response: { 200: nodeSchema },
        },
      },
      (request, reply) =>
        mutate(db, {
          request,
          reply,
          status: 200,
          work: async (tx) => {
            const { id: nodeId, binary: binaryName } = request.params;
            await nodeById(tx, nodeId);
            const { version, reason } = request.body;
            const naming = { nodeId, binaryName, version, reason, actor: actorOf(request) };
            if (!(await nameByOperator(tx, naming))) throw notFound('component', binaryName);
            return nodeById(tx, nodeId);
          },
        }),
    );
  };
}

async function nodeById(db: Db, id: string): Promise<NodeView> {
  const node = await findNode(db, id);
  if (!node) throw notFound('node', id);
  return node;
}
