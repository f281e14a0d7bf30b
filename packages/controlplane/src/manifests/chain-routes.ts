import {
  type ChainView,
  chainListSchema,
  chainParamsSchema,
  chainSchema,
  manifestListSchema,
} from '@hoodcloud/contracts/http/chains';
import type { FastifyInstance } from 'fastify';
import { needs } from '../auth/route-scope.ts';
import { notFound } from '../http/problem-error.ts';
import { typedRoutes } from '../http/typed-routes.ts';
import { type ChainSources, findChain, listChains, manifestView } from './chain-read-model.ts';

const tags = ['chains'];

/** `GET /chains`, `GET /chains/{id}`, `GET /chains/{id}/manifests`: the config folder as it is now, and the fleet beside it. */
export function chainRoutes(sources: ChainSources): (api: FastifyInstance) => void {
  return (api) => {
    const routes = typedRoutes(api);
    routes.get(
      '/chains',
      { ...needs('read'), schema: { operationId: 'listChains', tags, response: { 200: chainListSchema } } },
      async () => ({ items: await listChains(sources) }),
    );
    routes.get(
      '/chains/:id',
      {
        ...needs('read'),
        schema: { operationId: 'getChain', tags, params: chainParamsSchema, response: { 200: chainSchema } },
      },
      ({ params }) => chainById(sources, params.id),
    );
    routes.get(
      '/chains/:id/manifests',
      {
        ...needs('read'),
        schema: {
          operationId: 'listManifests',
          tags,
          params: chainParamsSchema,
          response: { 200: manifestListSchema },
        },
      },
      async ({ params }) => {
        const { chain_profile_id: id } = await chainById(sources, params.id);
        return { items: (await sources.manifests.inspect(id)).map((manifest) => manifestView(id, manifest)) };
      },
    );
  };
}

async function chainById(sources: ChainSources, id: string): Promise<ChainView> {
  const chain = await findChain(sources, id);
  if (!chain) throw notFound('chain', id);
  return chain;
}
