import type { FastifyInstance } from 'fastify';

/**
 * Tells which methods a path has, for an answer 405 with `Allow` (RFC 9110) instead of a 404 that misleads. A path that is a
 * route by its own name has that route's methods alone: `/rollouts/plan` is no `/rollouts/:id`.
 */
export function allowedMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { readonly url: string; readonly path: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const path = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`);
    routes.push({ url, path, methods: Array.isArray(method) ? method : [method] });
  });
  return (path) => {
    const named = routes.filter(({ url }) => url === path);
    const fitting = named.length > 0 ? named : routes.filter((route) => route.path.test(path));
    return [...new Set(fitting.flatMap(({ methods }) => methods))].sort();
  };
}
