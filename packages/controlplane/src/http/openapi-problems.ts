import { PROBLEM_CONTENT_TYPE } from '@hoodcloud/contracts/http/problem';
import type { jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';

type Document = ReturnType<typeof jsonSchemaTransformObject>;

interface ProblemCase {
  readonly name: string;
  readonly description: string;
  readonly code: string;
  readonly detail: string;
  /** Whether an operation may answer so. */
  readonly when: (operation: Shape) => boolean;
}

/** What decides which refusals an operation knows. */
interface Shape {
  readonly input: boolean;
  readonly path: boolean;
  readonly body: boolean;
  readonly mutation: boolean;
  readonly conditional: boolean;
}

const always = (): boolean => true;

/** Every status that a problem (RFC 9457) may have, with an example. */
const CASES: Readonly<Record<string, ProblemCase>> = {
  '400': {
    name: 'InvalidRequest',
    description: 'The request does not fit its schema; `errors` names every field.',
    code: 'invalid_request',
    detail: 'The request does not fit its schema; see errors.',
    when: ({ input }) => input,
  },
  '401': {
    name: 'Unauthorized',
    description: 'There are no credentials, or they do not hold.',
    code: 'unauthorized',
    detail: 'The API key is unknown or was revoked.',
    when: always,
  },
  '403': {
    name: 'Forbidden',
    description: 'The caller lacks the scope, or must not do it as the person it is.',
    code: 'scope_missing',
    detail: 'This needs the scope "admin"; key:reader has read.',
    when: always,
  },
  '404': {
    name: 'NotFound',
    description: 'What the path names is not there.',
    code: 'node_not_found',
    detail: 'There is no node 5f0c8d1e-4f7b-4c56-9a68-0b5c0f8a9d11.',
    when: ({ path }) => path,
  },
  '409': {
    name: 'Conflict',
    description: 'The present state does not allow it.',
    code: 'rollout_active',
    detail: 'Another rollout is active on this chain.',
    when: ({ mutation }) => mutation,
  },
  '412': {
    name: 'PreconditionFailed',
    description: 'It changed since the state that If-Match names.',
    code: 'changed_meanwhile',
    detail: 'It changed since you looked: read it again, then decide.',
    when: ({ conditional }) => conditional,
  },
  '413': {
    name: 'BodyTooLarge',
    description: 'The body is larger than the server takes.',
    code: 'body_too_large',
    detail: 'The request body is too large.',
    when: ({ body }) => body,
  },
  '415': {
    name: 'UnsupportedMediaType',
    description: 'The body is not JSON.',
    code: 'unsupported_media_type',
    detail: 'Send the body as application/json.',
    when: ({ body }) => body,
  },
  '422': {
    name: 'RulesBroken',
    description: 'The request has the right shape but breaks rules; `errors` names each.',
    code: 'rules_broken',
    detail: 'The rollout breaks 1 rule.',
    when: ({ mutation }) => mutation,
  },
  '429': {
    name: 'TooManyRequests',
    description: 'This caller sends more than it may; Retry-After says when to go on.',
    code: 'rate_limited',
    detail: 'Too many requests; go on in 12 seconds.',
    when: always,
  },
  '500': {
    name: 'InternalError',
    description: 'The control plane failed; its log has the request id and the cause.',
    code: 'internal_error',
    detail: 'The control plane failed; its log has the request id and the cause.',
    when: always,
  },
  '503': {
    name: 'Unavailable',
    description: 'A store or the identity provider can not be reached, or the server is overloaded; try again.',
    code: 'database_unavailable',
    detail: 'The database can not be reached; try again in some seconds.',
    when: always,
  },
};

/** Gives every operation the problems it may answer with instead. */
export function withProblems(document: Document): Document {
  const shared = document as OpenAPIV3_1.Document;
  shared.components = { ...shared.components, responses: { ...shared.components?.responses, ...responses() } };
  for (const item of Object.values(shared.paths ?? {})) {
    for (const method of ['get', 'post', 'put', 'delete'] as const) {
      const operation = item?.[method];
      if (operation) addProblems(operation, method);
    }
  }
  return document;
}

function addProblems(operation: OpenAPIV3_1.OperationObject, method: string): void {
  const parameters = (operation.parameters ?? []).filter((parameter) => 'in' in parameter);
  const body = operation.requestBody !== undefined;
  const shape: Shape = {
    input: parameters.length > 0 || body,
    path: parameters.some((parameter) => parameter.in === 'path'),
    body,
    mutation: method !== 'get',
    conditional: parameters.some((parameter) => parameter.name === 'if-match'),
  };
  operation.responses ??= {};
  for (const [status, { name, when }] of Object.entries(CASES)) {
    if (when(shape)) operation.responses[status] = { $ref: `#/components/responses/${name}` };
  }
}

function responses(): Record<string, OpenAPIV3_1.ResponseObject> {
  const schema = { $ref: '#/components/schemas/Problem' };
  return Object.fromEntries(
    Object.entries(CASES).map(([status, { name, description, code, detail }]) => {
      const example = {
        type: `urn:hoodcloud:problem:${code}`,
        title: description,
        status: Number(status),
        detail,
        code,
      };
      const headers = ['429', '503'].includes(status)
        ? {
            'Retry-After': {
              description: 'Seconds until a new try is worth it.',
              schema: { type: 'integer' as const },
            },
          }
        : undefined;
      const response = {
        description,
        ...(headers && { headers }),
        content: { [PROBLEM_CONTENT_TYPE]: { schema, example } },
      };
      return [name, response];
    }),
  );
}
