import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { polished } from './openapi-polish.ts';
import { withProblems } from './openapi-problems.ts';

/** Collects every route's schema into one OpenAPI document, served at `/openapi.json`. */
export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'hoodcloud rollout',
        description: 'Upgrades fleets of blockchain nodes in place. Errors are RFC 9457 problems with a stable `code`.',
        version: 'v1',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } as { name: string },
      },
      servers: [{ url: '/' }],
      tags: TAGS,
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key `hc_<id>.<secret>`, or a JWT of the configured issuer.',
          },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        },
      },
    },
    transform: (route) => withScope(jsonSchemaTransform(route), route.route.config?.scope),
    transformObject: (document) => polished(withProblems(jsonSchemaTransformObject(document))),
  });
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  );
}

const TAGS = [
  { name: 'rollouts', description: 'Upgrades of one binary over the nodes of a chain.' },
  { name: 'chains', description: 'What the config folder says of each chain, and its upgrade manifests.' },
  { name: 'nodes', description: 'Hosts, what they run, and how their agents join.' },
  { name: 'approvals', description: 'What stands still until a person acts.' },
  { name: 'incidents', description: 'What needs a person.' },
  { name: 'events', description: 'The history, as pages or as server-sent events.' },
  { name: 'notifications', description: 'Channels that are told, and what became of each message.' },
  { name: 'access', description: 'Who may call.' },
];

/** Each operation names the scope it needs, for both kinds of credentials (OpenAPI 3.1 allows roles for any scheme). */
function withScope(
  transformed: ReturnType<typeof jsonSchemaTransform>,
  scope: string | undefined,
): ReturnType<typeof jsonSchemaTransform> {
  if (scope === undefined) return transformed;
  const schema = { ...transformed.schema, security: [{ bearer: [scope] }, { apiKey: [scope] }], 'x-scope': scope };
  return { ...transformed, schema };
}
