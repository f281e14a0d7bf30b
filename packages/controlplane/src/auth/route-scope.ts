import type { Scope } from '@hoodcloud/contracts/http/scopes';
import type { FastifyInstance, RouteOptions } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a caller must have been granted; every route under `/api/v1` states it. */
    scope?: Scope;
  }
}

/** Part of a route's options: `...needs('operate')`. */
export function needs(scope: Scope): { readonly config: { readonly scope: Scope } } {
  return { config: { scope } };
}

/** A server with a route whose scope nobody thought of does not start. */
export function demandScopes(api: FastifyInstance): void {
  api.addHook('onRoute', ({ method, url, config }: RouteOptions) => {
    if (!config?.scope) {
      throw new Error(`${method} ${url} states no scope: add ...needs('read' | 'operate' | 'admin') to its options`);
    }
  });
}
