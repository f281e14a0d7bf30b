import { createServer } from 'node:http';
import Provider from 'oidc-provider';

/** For whom access tokens are made. */
export const AUDIENCE = 'urn:hoodcloud:test';
export const CLIENT_ID = 'dashboard';

export interface RunningProvider {
  readonly issuer: string;
  close(): Promise<void>;
}

/**
 * A certified implementation of OpenID Connect, whoever signs in being who they say: what an own stand-in would wrongly bear,
 * it refuses.
 * @param dashboard where its one client is, with a public client's rules: PKCE, no secret
 */
export async function startOidcProvider(dashboard: string): Promise<RunningProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the provider has no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        application_type: 'native', // loopback addresses without TLS
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: [`${dashboard}/sign-in`],
        post_logout_redirect_uris: [`${dashboard}/`],
      },
    ],
    clientBasedCORS: () => true,
    cookies: { keys: ['only for tests'] },
    issueRefreshToken: async () => true,
    pkce: { required: () => true, methods: ['S256'] },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    ttl: { AccessToken: 33, Grant: 3600, Session: 3600, Interaction: 3600, IdToken: 3600, RefreshToken: 3600 },
    features: {
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience: AUDIENCE,
          accessTokenTTL: 33,
          accessTokenFormat: 'jwt' as const,
          jwt: { sign: { alg: 'RS256' as const } },
        }),
      },
    },
  });
  server.on('request', provider.callback());
  return {
    issuer,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
