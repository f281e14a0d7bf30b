import type { FastifyInstance } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

/** Times every request by route and status; the path's values stay out of the labels. */
export function countRequests(app: FastifyInstance, registry: Registry): void {
  const duration = new Histogram({
    name: 'hoodcloud_http_request_duration_seconds',
    help: 'Time to answer an HTTP request.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
  });
}
