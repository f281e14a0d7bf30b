import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DASHBOARD_PATHS } from '@hoodcloud/contracts/http/dashboard-paths';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiServer } from '../http/api-server.ts';
import type { SignInSource } from './dashboard-pages.ts';

const PAGE = '<!doctype html><meta name="style-nonce" content="__STYLE_NONCE__"><meta name="oidc" content="__OIDC__">';
const SIGN_IN = {
  issuer: 'https://id.example',
  clientId: 'a"><script>',
  scopes: 'openid',
  resource: null,
  authorizationEndpoint: 'https://id.example/auth',
  tokenEndpoint: 'https://tokens.example/token',
  endSessionEndpoint: null,
};
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hoodcloud-dashboard-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'assets/index-abc.js'), 'export {};');
});
afterAll(() => rmSync(folder, { recursive: true }));

function server(dashboardFolder: string, signIn?: SignInSource) {
  return createApiServer({
    features: [],
    authenticators: [],
    log: silent,
    metrics: new Registry(),
    notReady: async () => null,
    dashboardFolder,
    ...(signIn && { signIn }),
  });
}

describe('the dashboard', () => {
  it.each(['/', ...Object.values(DASHBOARD_PATHS).map((path) => path.replace(':id', 'x'))])(
    'is answered at %s, with a policy that lets nothing foreign in',
    async (url) => {
      const app = await server(folder);
      const first = await app.inject(url);
      const second = await app.inject(url);
      expect([first.statusCode, first.headers['cache-control']]).toEqual([200, 'no-cache']);
      const policy = String(first.headers['content-security-policy']);
      const nonce = /nonce-([\w+/=]+)/.exec(policy)?.[1] ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      expect(first.body).toContain(`content="${nonce}"`);
      expect(second.body).not.toContain(nonce);
    },
  );

  it('says how people sign in, and may then connect to the token endpoint and nowhere else', async () => {
    const none = await (await server(folder)).inject('/sign-in');
    expect(none.body).toContain('name="oidc" content=""');
    expect(none.headers['content-security-policy']).toMatch(/connect-src 'self';/);
    const { body, headers } = await (await server(folder, async () => SIGN_IN)).inject('/sign-in');
    expect(headers['content-security-policy']).toMatch(/connect-src 'self' https:\/\/tokens\.example;/);
    expect(body).toContain('&quot;tokenEndpoint&quot;');
    expect(body).not.toContain('<script>');
  });

  it('has files that are kept for ever, by their hash', async () => {
    const answer = await (await server(folder)).inject('/assets/index-abc.js');
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(answer.body).toBe('export {};');
  });

  it.each(['/else', '/api/v2', '/assets/index-old.js', '/assets/../index.html', '/rollouts/x/y'])(
    'is not answered at %s',
    async (url) => {
      expect((await (await server(folder)).inject(url)).statusCode).toBe(404);
    },
  );

  it('says that it is not built where it is not', async () => {
    const answer = await (await server(join(folder, 'nothing'))).inject('/rollouts');
    expect(answer.statusCode).toBe(503);
    expect(answer.body).toContain('npm run build:dashboard');
  });
});
