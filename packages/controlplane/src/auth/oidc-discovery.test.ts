import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OidcDiscovery } from './oidc-discovery.ts';

let server: Server;
let issuer: string;
let answer: () => object | null;
let asked: number;
beforeEach(async () => {
  asked = 0;
  server = createServer((_request, response) => {
    asked += 1;
    const body = answer();
    response.writeHead(body === null ? 503 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  answer = () => metadata();
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const metadata = () => ({
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
});

function discovery(troubles: unknown[] = []): OidcDiscovery {
  const settings = { issuer, clientId: 'dashboard', scopes: 'openid', resource: null };
  return new OidcDiscovery(settings, (error) => troubles.push(error));
}

it('is asked once for ten minutes, whoever opens the page', async () => {
  const provider = discovery();
  const [first, second] = await Promise.all([provider.signIn(0), provider.signIn(0)]);
  await provider.signIn(9 * 60_000);
  expect([first?.tokenEndpoint, first?.endSessionEndpoint, asked]).toEqual([`${issuer}/token`, null, 1]);
  expect(second).toEqual(first);
  await provider.signIn(11 * 60_000);
  await expect.poll(() => asked, { timeout: 30_000 }).toBe(2);
});

it('keeps what it knew while the provider is away, says so, and asks again soon', async () => {
  const troubles: unknown[] = [];
  const provider = discovery(troubles);
  await provider.signIn(0);
  answer = () => null;
  expect(await provider.signIn(11 * 60_000)).not.toBeNull();
  await expect.poll(() => troubles.length, { timeout: 30_000 }).toBe(1);
  answer = () => metadata();
  await provider.signIn(12 * 60_000);
  await expect.poll(() => asked, { timeout: 30_000 }).toBe(3);
});

it.each([
  ['of another issuer', () => ({ ...metadata(), issuer: 'https://evil.example' })],
  ['whose token endpoint has no TLS', () => ({ ...metadata(), token_endpoint: 'http://evil.example/token' })],
  ['that names no endpoint', () => ({ issuer })],
])('an answer %s is none: people sign in by API key', async (_, wrong) => {
  const troubles: unknown[] = [];
  answer = wrong;
  expect(await discovery(troubles).signIn(0)).toBeNull();
  expect(troubles).toHaveLength(1);
});
