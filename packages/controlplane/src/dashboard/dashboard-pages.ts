import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import { DASHBOARD_PATHS } from '@hoodcloud/contracts/http/dashboard-paths';
import type { DashboardSignIn } from '@hoodcloud/contracts/http/dashboard-sign-in';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Stands in the built page where each answer gets its own nonce. */
const NONCE_PLACE = '__STYLE_NONCE__';

/** Stands where the page is told how people sign in. */
const OIDC_PLACE = '__OIDC__';

/** How people sign in at an OpenID provider; null: by API key only, for now at least. */
export type SignInSource = () => Promise<DashboardSignIn | null>;

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The dashboard is not built</title></head>
<body><h1>The dashboard is not built</h1>
<p>This control plane runs, but its web pages are not on this machine. In the source tree: <code>npm run build:dashboard</code>,
then start the api role again; built elsewhere, their folder is named by <code>HOODCLOUD_DASHBOARD_DIR</code>.</p>
<p>The API is at <a href="/openapi.json">/api/v1</a>, and <code>hoodctl</code> does everything that the pages do.</p></body></html>
`;

/**
 * Serves the dashboard from `folder`: its page for each of its own paths and no other, and the hashed files that it loads,
 * which never change. Where the folder holds no page, the same paths say so (503).
 */
export async function dashboardPages(
  app: FastifyInstance,
  folder: string,
  signIn: SignInSource = async () => null,
): Promise<void> {
  const file = join(folder, 'index.html');
  const page = existsSync(file) ? readFileSync(file, 'utf8') : null;
  for (const path of ['/', ...Object.values(DASHBOARD_PATHS)]) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) => sendPage(reply, page, await signIn()));
  }
  if (page === null) return;
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    index: false,
    immutable: true,
    maxAge: '365d',
    preCompressed: true,
    schemaHide: true,
    setHeaders: (response) => void response.setHeader('x-content-type-options', 'nosniff'),
  });
}

async function sendPage(
  reply: FastifyReply,
  page: string | null,
  signIn: DashboardSignIn | null,
): Promise<FastifyReply> {
  const nonce = randomBytes(16).toString('base64');
  return reply
    .code(page === null ? 503 : 200)
    .headers({
      'content-security-policy': policy(nonce, signIn),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
      'cache-control': 'no-cache',
    })
    .type('text/html; charset=utf-8')
    .send(
      (page ?? NOT_BUILT)
        .replace(NONCE_PLACE, nonce)
        .replace(OIDC_PLACE, () => (signIn === null ? '' : asAttribute(JSON.stringify(signIn)))),
    );
}

function asAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/**
 * Nothing but our own files runs, nothing is fetched from elsewhere but tokens from the provider that is configured, nobody
 * puts the page into a frame.
 */
function policy(nonce: string, signIn: DashboardSignIn | null): string {
  const provider = signIn === null ? '' : ` ${new URL(signIn.tokenEndpoint).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self'${provider}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
