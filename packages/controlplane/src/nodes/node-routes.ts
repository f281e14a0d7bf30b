import { idParamsSchema, pageQuerySchema } from '@hoodcloud/contracts/http/common';
import { holdNodeSchema, pinNodeSchema } from '@hoodcloud/contracts/http/node-holds';
import {
  createNodeSchema,
  fleetSummaryQuerySchema,
  fleetSummarySchema,
  joinTokenRequestSchema,
  joinTokenSchema,
  type NodeView,
  nameVersionSchema,
  nodeComponentParamsSchema,
  nodeDetailSchema,
  nodeListQuerySchema,
  nodePageSchema,
  nodeSchema,
  nodeUpgradePageSchema,
} from '@hoodcloud/contracts/http/nodes';
import { controlRequestSchema } from '@hoodcloud/contracts/http/rollout-requests';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database, Db } from '../db/database.ts';
import { mutate, mutationSchema } from '../http/mutation.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import type { ChainFiles } from '../manifests/chain-files.ts';
import { whyOfNode } from '../rollouts/why-of-node.ts';
import { fleetSummary } from './fleet-summary.ts';
import { nameByOperator } from './naming.ts';
import { holdNode, pinNode, releaseNode } from './node-holds.ts';
import { findNode, listNodes } from './node-read-model.ts';
import { addNode, issueJoinToken } from './node-service.ts';
import { listNodeUpgrades } from './node-upgrades.ts';

const tags = ['nodes'];
const ofNode = { tags, params: idParamsSchema, ...mutationSchema, response: { 200: nodeSchema } };

/** `GET|POST /nodes`, `GET /nodes/{id}`, join tokens and naming what runs. */
export function nodeRoutes(db: Database, chains: ChainFiles): (api: FastifyInstance) => void {
  return (api) => {
    const routes = typedRoutes(api);
    const keep = (
      request: FastifyRequest & { readonly params: { readonly id: string } },
      reply: FastifyReply,
      change: (tx: Db, nodeId: string) => Promise<void>,
    ) =>
      mutate(db, {
        request,
        reply,
        status: 200,
        work: async (tx) => {
          const { id } = await nodeById(tx, request.params.id);
          await change(tx, id);
          return nodeById(tx, id);
        },
      });
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
      '/nodes/summary',
      {
        ...needs('read'),
        schema: {
          operationId: 'getFleetSummary',
          tags,
          querystring: fleetSummaryQuerySchema,
          response: { 200: fleetSummarySchema },
        },
      },
      ({ query }) => fleetSummary(db, query.chain_profile_id),
    );
    routes.get(
      '/nodes/:id/upgrades',
      {
        ...needs('read'),
        schema: {
          operationId: 'listNodeUpgrades',
          tags,
          params: idParamsSchema,
          querystring: pageQuerySchema,
          response: { 200: nodeUpgradePageSchema },
        },
      },
      async ({ params, query }) => {
        const { id } = await nodeById(db, params.id);
        return listNodeUpgrades(db, id, query);
      },
    );
    routes.get(
      '/nodes/:id',
      {
        ...needs('read'),
        schema: { operationId: 'getNode', tags, params: idParamsSchema, response: { 200: nodeDetailSchema } },
      },
      async ({ params }) => {
        const node = await nodeById(db, params.id);
        return { ...node, why: await whyOfNode(db, chains, node) };
      },
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
      '/nodes/:id/hold',
      { ...needs('operate'), schema: { operationId: 'holdNode', ...ofNode, body: holdNodeSchema } },
      (request, reply) => keep(request, reply, (tx, id) => holdNode(tx, id, request.body, actorOf(request))),
    );
    routes.post(
      '/nodes/:id/pin',
      { ...needs('operate'), schema: { operationId: 'pinNode', ...ofNode, body: pinNodeSchema } },
      (request, reply) => keep(request, reply, (tx, id) => pinNode(tx, id, request.body, actorOf(request))),
    );
    routes.post(
      '/nodes/:id/release',
      { ...needs('operate'), schema: { operationId: 'releaseNode', ...ofNode, body: controlRequestSchema } },
      (request, reply) => keep(request, reply, (tx, id) => releaseNode(tx, id, request.body.reason, actorOf(request))),
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
