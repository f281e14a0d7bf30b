import type { FastifyInstance } from 'fastify';

/** Tells which methods a path has, for an answer 405 with `Allow` (RFC 9110) instead of a 404 that misleads. */
export function allowedMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const path = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`);
    routes.push({ path, methods: Array.isArray(method) ? method : [method] });
  });
  return (path) =>
    [...new Set(routes.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods))].sort();
}
