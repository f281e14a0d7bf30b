import swagger from '@fastify/swagger';
import { PROBLEM_CONTENT_TYPE } from '@hoodcloud/contracts/http/problem';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';

/** Collects every route's schema into one OpenAPI document, served at `/openapi.json`. */
export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'hoodcloud rollout',
        description: 'Upgrades fleets of blockchain nodes in place. Errors are RFC 9457 problems with a stable `code`.',
        version: 'v1',
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `hc_<id>.<secret>`.' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        },
      },
      security: [{ bearer: [] }, { apiKey: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => withProblems(jsonSchemaTransformObject(document)),
  });
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  );
}

/** Every operation may answer with a problem instead. */
function withProblems(document: ReturnType<typeof jsonSchemaTransformObject>): typeof document {
  const schema = { $ref: '#/components/schemas/Problem' };
  const refusal = { description: 'A problem (RFC 9457)', content: { [PROBLEM_CONTENT_TYPE]: { schema } } };
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of [path?.get, path?.post, path?.delete]) {
      if (operation?.responses) operation.responses.default = refusal;
    }
  }
  return document;
}
