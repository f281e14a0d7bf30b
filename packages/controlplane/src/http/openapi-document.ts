import { Registry } from 'prom-client';
import type { Feature } from '../feature.ts';
import { createApiServer } from './api-server.ts';

/** The OpenAPI document of the features' routes; no request is served and no store is asked for it. */
export async function openApiDocument(features: readonly Pick<Feature, 'name' | 'routes'>[]): Promise<string> {
  const silent = { info: nothing, warn: nothing, error: nothing };
  const app = await createApiServer({
    features,
    authenticators: [],
    log: silent,
    metrics: new Registry(),
    notReady: async () => null,
  });
  await app.ready();
  const { body } = await app.inject({ url: '/openapi.json' });
  await app.close();
  return `${JSON.stringify(JSON.parse(body), null, 2)}\n`;
}

function nothing(): void {
  // a document is made without a log
}
