import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { degradations } from '../telemetry/degradations.ts';

export interface Operations {
  readonly metrics: Registry;
  readonly notReady: () => Promise<string | null>;
}

/** What machines ask: is the process alive (`/health`), can it serve (`/readyz`), what does it count (`/metrics`). */
export function operationsRoutes(app: FastifyInstance, { metrics, notReady }: Operations): void {
  const hidden = { schema: { hide: true } };
  app.get('/health', hidden, async () => ({ status: 'ok' }));
  app.get('/readyz', hidden, async (_request, reply) => {
    const reason = await notReady();
    const degraded = degradations();
    if (reason === null) return { status: 'ready', ...(degraded.length > 0 && { degraded }) };
    return reply.code(503).send({ status: 'not_ready', reason });
  });
  app.get('/metrics', hidden, async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
}
