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
import { onceByKey } from '../http/idempotency.ts';
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
        schema: { operationId: 'createNode', tags, body: createNodeSchema, response: { 201: nodeSchema } },
      },
      (request, reply) =>
        onceByKey(db, request, reply, async (tx) => nodeById(tx, await addNode(tx, chains, request.body))),
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
          body: joinTokenRequestSchema,
          response: { 201: joinTokenSchema },
        },
      },
      async (request, reply) => {
        const { id: nodeId } = await nodeById(db, request.params.id);
        reply.code(201);
        const { expires_in_seconds: expiresInSeconds } = request.body;
        return db
          .transaction()
          .execute((tx) => issueJoinToken(tx, { nodeId, expiresInSeconds, actor: actorOf(request) }));
      },
    );
    routes.post(
      '/nodes/:id/components/:binary/version',
      {
        ...needs('operate'),
        schema: {
          operationId: 'nameVersion',
          tags,
          params: nodeComponentParamsSchema,
          body: nameVersionSchema,
          response: { 200: nodeSchema },
        },
      },
      async (request) => {
        const { id: nodeId, binary: binaryName } = request.params;
        await nodeById(db, nodeId);
        const naming = { nodeId, binaryName, version: request.body.version, actor: actorOf(request) };
        const named = await db.transaction().execute((tx) => nameByOperator(tx, naming));
        if (!named) throw notFound('component', binaryName);
        return nodeById(db, nodeId);
      },
    );
  };
}

async function nodeById(db: Db, id: string): Promise<NodeView> {
  const node = await findNode(db, id);
  if (!node) throw notFound('node', id);
  return node;
}
