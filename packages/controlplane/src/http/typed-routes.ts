import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';

/** A server whose handlers know the types of their zod schemas. */
export function typedRoutes(api: FastifyInstance) {
  return api.withTypeProvider<ZodTypeProvider>();
}
