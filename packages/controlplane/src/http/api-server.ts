import { PROBLEM_CONTENT_TYPE } from '@hoodcloud/contracts/http/problem';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Authenticator } from '../auth/dual-auth-middleware.ts';
import { dualAuthMiddleware } from '../auth/dual-auth-middleware.ts';
import { demandScopes } from '../auth/route-scope.ts';
import { dashboardPages, type SignInSource } from '../dashboard/dashboard-pages.ts';
import type { Feature, Logger } from '../feature.ts';
import { allowedMethods } from './allowed-methods.ts';
import { drainRefusedBody } from './drain-refused-body.ts';
import { registerOpenApi } from './openapi.ts';
import { operationsRoutes } from './operations-routes.ts';
import { ProblemError } from './problem-error.ts';
import { limitRates, refuseUnderPressure } from './rate-limits.ts';
import { countRequests } from './request-metrics.ts';
import { toProblem } from './to-problem.ts';

/** No body of this API comes near it: a rollout of 25,000 named nodes is 1 MB. */
const BODY_LIMIT = 4 * 1024 * 1024;

export interface ApiServerOptions {
  readonly features: readonly Pick<Feature, 'name' | 'routes'>[];
  readonly authenticators: readonly Authenticator[];
  readonly log: Logger;
  readonly metrics: Registry;
  /** Why requests can't be served now, e.g. the database's error; null when they can. */
  readonly notReady: () => Promise<string | null>;
  readonly bodyLimit?: number;
  /** Of one key or user; no limit when left out. */
  readonly requestsPerMinute?: number;
  /** Where the built dashboard is; its paths are no routes when left out. */
  readonly dashboardFolder?: string;
  /** How people sign in to the dashboard at an OpenID provider; by API key only when left out. */
  readonly signIn?: SignInSource;
}

/** The HTTP API: features' routes under `/api/v1` behind authentication, one error handler, OpenAPI and the role's own pages. */
export async function createApiServer(options: ApiServerOptions): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    bodyLimit: options.bodyLimit ?? BODY_LIMIT,
    genReqId: () => crypto.randomUUID(),
    requestIdHeader: false,
    forceCloseConnections: true,
    // longer than any address that Node reads, since the router's own 414 is no problem document: schemas limit parameters
    routerOptions: { maxParamLength: 65_536 },
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  acceptEmptyJson(app);
  const methodsOf = allowedMethods(app);
  app.setNotFoundHandler((request, reply) => sendNotFound(request, reply, methodsOf));
  app.setErrorHandler((error, request, reply) =>
    // where nothing is, it doesn't matter what else is wrong with the request
    request.is404 ? sendNotFound(request, reply, methodsOf) : sendProblem(error, request, reply, options.log),
  );
  countRequests(app, options.metrics);
  await registerOpenApi(app);
  operationsRoutes(app, options);
  if (options.dashboardFolder !== undefined) await dashboardPages(app, options.dashboardFolder, options.signIn);
  await app.register(
    async (api) => {
      demandScopes(api);
      await refuseUnderPressure(api);
      api.addHook('onRequest', dualAuthMiddleware(options.authenticators));
      if (options.requestsPerMinute !== undefined) await limitRates(api, options.requestsPerMinute);
      api.addHook('onRequest', async (request, reply) => {
        const methods = methodsOf(pathOf(request));
        if (methods.length > 0 && !methods.includes(request.method)) return reply.callNotFound();
      });
      // a control needs no body: none is as good as {}
      api.addHook('preValidation', async (request) => {
        if (request.method === 'POST' && request.body === undefined) request.body = {};
      });
      for (const feature of options.features) feature.routes?.(api);
    },
    { prefix: '/api/v1' },
  );
  return app;
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}

/** 405 where the path has other methods, else 404. */
function sendNotFound(
  request: FastifyRequest,
  reply: FastifyReply,
  methodsOf: (path: string) => readonly string[],
): FastifyReply {
  const methods = methodsOf(pathOf(request));
  if (methods.length > 0) reply.header('allow', methods.join(', '));
  const status = methods.length > 0 ? 405 : 404;
  const problem = toProblem(
    new ProblemError(
      status,
      status === 405 ? 'method_not_allowed' : 'not_found',
      `There is no ${request.method} ${request.url}.`,
    ),
  );
  return reply.code(status).type(PROBLEM_CONTENT_TYPE).send(JSON.stringify(problem));
}

/** An empty body with a JSON content type is none, not wrong JSON. */
function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else parse(request, body as string, done);
  });
}

async function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Logger,
): Promise<FastifyReply> {
  const problem = { ...toProblem(error), instance: `urn:uuid:${request.id}` };
  const context = { request_id: request.id, method: request.method, url: request.routeOptions.url, code: problem.code };
  if (problem.status >= 500) log.error({ ...context, err: error }, 'request failed');
  // Fastify asks for the connection to be closed with the rest of the body unread
  if (problem.status === 413 && (await drainRefusedBody(request.raw))) reply.removeHeader('connection');
  // serialized here: a route's response schemas describe its answers, not its errors
  return reply.code(problem.status).type(PROBLEM_CONTENT_TYPE).serializer(JSON.stringify).send(problem);
}
