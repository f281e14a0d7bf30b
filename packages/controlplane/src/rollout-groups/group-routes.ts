import { idParamsSchema } from '@hoodcloud/contracts/http/common';
import {
  createRolloutGroupSchema,
  type RolloutGroupDetail,
  rolloutGroupDetailSchema,
  rolloutGroupListQuerySchema,
  rolloutGroupPageSchema,
  rolloutGroupPlanSchema,
  rolloutGroupStatusSchema,
  skipComponentSchema,
} from '@hoodcloud/contracts/http/rollout-groups';
import { controlRequestSchema } from '@hoodcloud/contracts/http/rollout-requests';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { needs } from '../auth/route-scope.ts';
import type { Database, Db } from '../db/database.ts';
import { requireMatch } from '../http/etag.ts';
import { conditionalMutationSchema, mutate, mutationSchema } from '../http/mutation.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import type { RolloutSources } from '../rollouts/prepare-rollout.ts';
import { createGroup, planGroup } from './create-group.ts';
import { groupEtag } from './group-etag.ts';
import { findGroup, findGroupStatus, groupExists, listGroups } from './group-read-model.ts';
import { lockGroup } from './group-row.ts';
import { type GroupControlOrder, orderGroupControl } from './order-group-control.ts';

export interface GroupRouteParts {
  readonly db: Database;
  readonly sources: RolloutSources;
}

const tags = ['rollout-groups'];

/** Controls of a group by the last part of their path (spec "Rollout Group Endpoints", C1); `skip` has a body of its own. */
const CONTROLS = ['start', 'pause', 'resume', 'cancel', 'rollback'] as const;

/** Every endpoint of a group. */
export function groupRoutes(parts: GroupRouteParts): (api: FastifyInstance) => void {
  return (api) => {
    addCreation(api, parts);
    addReads(api, parts);
    addControls(api, parts);
  };
}

function addCreation(api: FastifyInstance, { db, sources }: GroupRouteParts): void {
  typedRoutes(api).post(
    '/rollout-groups',
    {
      ...needs('admin'),
      schema: {
        operationId: 'createRolloutGroup',
        tags,
        ...mutationSchema,
        body: createRolloutGroupSchema,
        response: { 200: rolloutGroupPlanSchema, 201: rolloutGroupDetailSchema },
      },
    },
    async (request, reply) => {
      if (request.query.dry_run) return planGroup(db, sources, request.body);
      return mutate(db, {
        request,
        reply,
        status: 201,
        work: async (tx) => groupById(tx, await createGroup(tx, sources, request.body, actorOf(request))),
      });
    },
  );
}

function addReads(api: FastifyInstance, { db }: GroupRouteParts): void {
  const routes = typedRoutes(api);
  routes.get(
    '/rollout-groups',
    {
      ...needs('read'),
      schema: {
        operationId: 'listRolloutGroups',
        tags,
        querystring: rolloutGroupListQuerySchema,
        response: { 200: rolloutGroupPageSchema },
      },
    },
    ({ query }) => listGroups(db, query),
  );
  routes.get(
    '/rollout-groups/:id',
    {
      ...needs('read'),
      schema: {
        operationId: 'getRolloutGroup',
        tags,
        params: idParamsSchema,
        response: { 200: rolloutGroupDetailSchema },
      },
    },
    async ({ params }, reply) => {
      const group = await groupById(db, params.id);
      reply.header('etag', await groupEtag(db, params.id));
      return group;
    },
  );
  routes.get(
    '/rollout-groups/:id/status',
    {
      ...needs('read'),
      schema: {
        operationId: 'getRolloutGroupStatus',
        tags,
        params: idParamsSchema,
        response: { 200: rolloutGroupStatusSchema },
      },
    },
    async ({ params }) => {
      const status = await findGroupStatus(db, params.id);
      if (!status) throw notFound('rollout_group', params.id);
      return status;
    },
  );
}

function addControls(api: FastifyInstance, parts: GroupRouteParts): void {
  const routes = typedRoutes(api);
  const answers = {
    tags,
    params: idParamsSchema,
    ...conditionalMutationSchema,
    response: { 200: rolloutGroupDetailSchema },
  };
  for (const kind of CONTROLS) {
    routes.post(
      `/rollout-groups/:id/${kind}`,
      { ...needs('operate'), schema: { operationId: `${kind}RolloutGroup`, body: controlRequestSchema, ...answers } },
      (request, reply) =>
        order(parts, request, reply, { groupId: request.params.id, kind, reason: request.body.reason }),
    );
  }
  routes.post(
    '/rollout-groups/:id/skip',
    {
      ...needs('operate'),
      schema: { operationId: 'skipRolloutGroupComponent', body: skipComponentSchema, ...answers },
    },
    (request, reply) =>
      order(parts, request, reply, {
        groupId: request.params.id,
        kind: 'skip',
        componentIndex: request.body.component_index,
        reason: request.body.reason,
      }),
  );
}

/** Takes a control and answers with the group as it is then. */
async function order(
  { db, sources }: GroupRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  what: Omit<GroupControlOrder, 'actor'>,
): Promise<RolloutGroupDetail> {
  if (!(await groupExists(db, what.groupId))) throw notFound('rollout_group', what.groupId);
  return mutate(db, {
    request,
    reply,
    status: 200,
    work: async (tx) => {
      await lockGroup(tx, what.groupId);
      requireMatch(request, await groupEtag(tx, what.groupId));
      await orderGroupControl(tx, sources.targets, { ...what, actor: actorOf(request) });
      reply.header('etag', await groupEtag(tx, what.groupId));
      return groupById(tx, what.groupId);
    },
  });
}

async function groupById(db: Db, id: string): Promise<RolloutGroupDetail> {
  const group = await findGroup(db, id);
  if (!group) throw notFound('rollout_group', id);
  return group;
}
