import { apiKeyAuthenticator } from '../auth/api-keys.ts';
import { composeFeatures } from '../compose.ts';
import { createApiServer } from '../http/api-server.ts';
import { metrics } from '../telemetry/registry.ts';
import { hostAndPort } from '../telemetry/status-server.ts';
import type { ProcessParts } from './process-parts.ts';
import { NEVER_FAILS, type RunningRole } from './role.ts';

/** The HTTP API with every feature's routes, and the role's own `/health`, `/readyz` and `/metrics`. @throws when the port is taken */
export async function startApiRole(parts: ProcessParts): Promise<RunningRole> {
  const { config, log, db } = parts;
  const app = await createApiServer({
    features: composeFeatures(parts),
    authenticators: [apiKeyAuthenticator(db)],
    log,
    metrics,
    notReady: async () => {
      try {
        await parts.ready();
        return null;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  });
  const address = await app.listen(hostAndPort(config.apiListen));
  return { name: 'api', address, failed: NEVER_FAILS, stop: () => app.close() };
}
