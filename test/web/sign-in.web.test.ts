import { JwksSource } from '@hoodcloud/controlplane/auth/jwks-source';
import { jwtAuthenticator } from '@hoodcloud/controlplane/auth/jwt';
import { OidcDiscovery } from '@hoodcloud/controlplane/auth/oidc-discovery';
import { grantsOf } from '@hoodcloud/controlplane/auth/scope-grants';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertRollout } from '@hoodcloud/testkit/rows';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { accessibilityViolations, DASHBOARD, DESKTOP, openBrowser } from './browser.ts';
import { AUDIENCE, CLIENT_ID, type RunningProvider, startOidcProvider } from './oidc-provider.ts';
import { TcpProxy } from './tcp-proxy.ts';

let database: MigratedDatabase;
let api: ApiFixture;
let proxy: TcpProxy;
let url: string;
let provider: RunningProvider;
let browser: Browser;
let rolloutId: string;
beforeAll(async () => {
  database = await createMigratedDatabase();
  const { db } = database;
  // the provider must know where the dashboard is, and the API where the provider is
  const target = { port: 0 };
  ({ proxy, url } = await TcpProxy.open(() => target.port));
  provider = await startOidcProvider(url);
  const { issuer } = provider;
  const settings = {
    issuer,
    audience: AUDIENCE,
    authorizedParties: [],
    clockToleranceSeconds: 0,
    rolesClaim: null,
    roles: {},
  };
  const { key } = new JwksSource({ location: `${issuer}/jwks` });
  const discovery = new OidcDiscovery(
    { issuer, clientId: CLIENT_ID, scopes: 'openid', resource: AUDIENCE },
    (error) => {
      throw error;
    },
  );
  api = await ApiFixture.create({
    database,
    dashboardFolder: DASHBOARD,
    signIn: () => discovery.signIn(),
    authenticators: () => [jwtAuthenticator({ settings, key, grantsOf: (subject) => grantsOf(db, subject) })],
  });
  target.port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
  await db
    .insertInto('scope_grants')
    .values({ subject: 'anna', scope: 'operate', granted_by: 'system:test' })
    .execute();
  rolloutId = await insertRollout(db, { status: 'running', targets_resolved_at: new Date() });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await proxy?.close();
  await api?.dispose();
  await provider?.close();
  await database?.dispose();
});

let page: Page;
afterEach(() => page?.context().close());

/** Goes to a place of the dashboard, is led to the provider, says who one is there, and agrees. */
async function signInAs(who: string, path: string): Promise<{ complaints: string[] }> {
  page = await (await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' })).newPage();
  const complaints: string[] = [];
  page.on('request', (request) => {
    const { origin } = new URL(request.url());
    const isOurs = request.frame().url().startsWith(url); // the provider's own pages ask for fonts elsewhere
    if (isOurs && origin !== url && origin !== provider.issuer) complaints.push(request.url());
  });
  await page.route('https://**', (route) => route.abort());
  await page.goto(`${url}${path}`);
  await page.getByRole('button', { name: `Sign in at ${new URL(provider.issuer).host}` }).click();
  await page.locator('[name=login]').fill(who);
  await page.locator('[name=password]').fill('whatever');
  await page.locator('[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
  return { complaints };
}

const isLive = () =>
  page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();

it('a person signs in at the OpenID provider, comes back to the same place, and orders under the own name', async () => {
  const { complaints } = await signInAs('anna', `/rollouts/${rolloutId}`);
  await isLive();
  expect(page.url()).toBe(`${url}/rollouts/${rolloutId}`); // neither code nor state stays in the address
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('dialog').getByText('with your name, user:anna').waitFor();
  await page.getByRole('dialog').getByLabel('Why').fill('the exchange');
  await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const stored = await database.db.selectFrom('rollout_controls').select(['kind', 'actor']).execute();
  expect(stored).toEqual([{ kind: 'pause', actor: 'user:anna' }]);
  expect(complaints).toEqual([]);
});

it('tokens are in memory alone, are renewed before they expire, and a reload forgets them', async () => {
  await signInAs('anna', '/rollouts');
  await isLive();
  expect(await page.evaluate('sessionStorage.length + localStorage.length + document.cookie.length')).toBe(0);
  const renewed = page.waitForResponse((response) => response.url() === `${provider.issuer}/token`);
  expect((await renewed).status()).toBe(200);
  await page.getByRole('link', { name: 'Fleet' }).click();
  await page.getByText('No node fits.').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'hoodcloud rollout' }).waitFor();
});

it('who has been granted nothing reads it where one signs in', async () => {
  await signInAs('bert', '/');
  await page.getByRole('alert').filter({ hasText: 'scope' }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
});

it('a sign-in that was not begun in this tab is refused, and so is one that the provider refused', async () => {
  page = await (await browser.newContext()).newPage();
  await page.goto(`${url}/sign-in?code=stolen&state=guessed`);
  await page.getByRole('alert').filter({ hasText: 'not begun in this tab' }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.goto(`${url}/sign-in?error=access_denied&error_description=You+may+not`);
  await page.getByRole('alert').filter({ hasText: 'The provider refused: You may not.' }).waitFor();
});

it('signing out ends the session at the provider too', async () => {
  await signInAs('anna', '/rollouts');
  await isLive();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByText('user:anna may read, operate').waitFor();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.getByRole('button', { name: /^Sign in at/ }).click();
  await page.locator('[name=login]').waitFor(); // asked who one is again
});
