import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { apiKeyAuthenticator } from '../auth/api-keys.ts';
import type { Authenticator } from '../auth/dual-auth-middleware.ts';
import { JwksSource } from '../auth/jwks-source.ts';
import { jwtAuthenticator } from '../auth/jwt.ts';
import { OidcDiscovery, type OidcSettings } from '../auth/oidc-discovery.ts';
import { grantsOf } from '../auth/scope-grants.ts';
import { composeFeatures } from '../compose.ts';
import type { SignInSource } from '../dashboard/dashboard-pages.ts';
import type { Logger } from '../feature.ts';
import { createApiServer } from '../http/api-server.ts';
import { metrics } from '../telemetry/registry.ts';
import { hostAndPort } from '../telemetry/status-server.ts';
import type { ProcessParts } from './process-parts.ts';
import { NEVER_FAILS, type RunningRole } from './role.ts';

/** Where a production build has it: beside the program. */
const BESIDE = join(import.meta.dirname, 'dashboard');
/** Where `npm run build:dashboard` puts it, seen from the source tree. */
const BUILT_HERE = join(import.meta.dirname, '../../../../dist/dashboard');

/** API keys, and the JWTs of the configured issuer (spec "API Surface"). */
function authenticators({ config, db }: ProcessParts): Authenticator[] {
  const keys = apiKeyAuthenticator(db);
  if (config.jwt === null) return [keys];
  const { key } = new JwksSource({ location: config.jwt.jwks });
  return [keys, jwtAuthenticator({ settings: config.jwt, key, grantsOf: (subject) => grantsOf(db, subject) })];
}

/** The HTTP API with every feature's routes, and the role's own `/health`, `/readyz` and `/metrics`. @throws when the port is taken */
export async function startApiRole(parts: ProcessParts): Promise<RunningRole> {
  const { config, log } = parts;
  const app = await createApiServer({
    features: composeFeatures(parts),
    authenticators: authenticators(parts),
    requestsPerMinute: config.requestsPerMinute,
    dashboardFolder: config.dashboardDir ?? (existsSync(BESIDE) ? BESIDE : BUILT_HERE),
    ...(config.oidc !== null && { signIn: signInAt(config.oidc, log) }),
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

/** Asks the provider when the page is asked for; its troubles are told in the log, and API keys go on. */
function signInAt(settings: OidcSettings, log: Logger): SignInSource {
  const discovery = new OidcDiscovery(settings, (error) =>
    log.warn({ err: error, issuer: settings.issuer }, 'the OpenID provider can not be asked how people sign in'),
  );
  return () => discovery.signIn();
}
