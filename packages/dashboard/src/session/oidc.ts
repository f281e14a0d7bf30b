import { DASHBOARD_PATHS } from '@hoodcloud/contracts/http/dashboard-paths';
import type { DashboardSignIn } from '@hoodcloud/contracts/http/dashboard-sign-in';

/** What must outlive the way to the provider and back; it opens nothing by itself. */
const STORED_AS = 'hoodcloud-sign-in';

interface Begun {
  readonly state: string;
  readonly verifier: string;
  readonly returnTo: string;
}

/** What the provider gave; kept in memory alone. */
export interface Tokens {
  readonly access: string;
  readonly refresh: string | null;
  readonly id: string | null;
  /** Epoch milliseconds; null: the provider did not say. */
  readonly expiresAt: number | null;
}

/** How people sign in at a provider; null: the server offers API keys only. */
export function signInSettings(): DashboardSignIn | null {
  const text = document.querySelector<HTMLMetaElement>('meta[name="oidc"]')?.content ?? '';
  return text.startsWith('{') ? (JSON.parse(text) as DashboardSignIn) : null;
}

/** Leaves for the provider: Authorization Code with PKCE (RFC 7636, RFC 9700). @throws Error without https */
export async function beginSignIn(settings: DashboardSignIn): Promise<void> {
  if (!isSecureContext) throw new Error('Browsers do this over https only. Open the dashboard by its https address.');
  const begun: Begun = { state: randomText(), verifier: randomText(), returnTo: placeToReturnTo() };
  sessionStorage.setItem(STORED_AS, JSON.stringify(begun));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(begun.verifier));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: redirectUri(),
    scope: settings.scopes,
    state: begun.state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    ...(settings.resource !== null && { resource: settings.resource }),
  });
  location.assign(`${settings.authorizationEndpoint}?${query}`);
}

/** Whether the provider has just sent somebody back here. */
export function isComingBack(): boolean {
  return location.pathname === DASHBOARD_PATHS.signIn && /[?&](code|error)=/.test(location.search);
}

/**
 * Takes what the provider sent back with, and gets the tokens for it. The address is cleared at once, so that the code is
 * neither in the history nor tried twice.
 * @throws Error with the sentence people read
 */
export async function finishSignIn(settings: DashboardSignIn): Promise<Tokens> {
  const answer = new URLSearchParams(location.search);
  const begun = JSON.parse(sessionStorage.getItem(STORED_AS) ?? 'null') as Begun | null;
  sessionStorage.removeItem(STORED_AS);
  history.replaceState(null, '', begun?.returnTo ?? DASHBOARD_PATHS.rollouts);
  const error = answer.get('error');
  if (error !== null) throw new Error(`The provider refused: ${answer.get('error_description') ?? error}.`);
  if (begun === null || answer.get('state') !== begun.state) {
    throw new Error('This sign-in was not begun in this tab. Begin it again.');
  }
  const from = answer.get('iss'); // RFC 9207
  if (from !== null && from !== settings.issuer)
    throw new Error(`The answer came from ${from}, not from ${settings.issuer}.`);
  return askForTokens(settings, {
    grant_type: 'authorization_code',
    code: answer.get('code') ?? '',
    redirect_uri: redirectUri(),
    code_verifier: begun.verifier,
  });
}

/** @throws Error when the provider refuses or can't be reached */
export async function refreshTokens(settings: DashboardSignIn, before: Tokens): Promise<Tokens> {
  const asked = { grant_type: 'refresh_token', refresh_token: before.refresh ?? '' };
  const tokens = await askForTokens(settings, asked);
  return { ...tokens, refresh: tokens.refresh ?? before.refresh, id: tokens.id ?? before.id };
}

/** Ends the session at the provider too, where it can; it sends people back here. */
export function endSession(settings: DashboardSignIn, { id }: Tokens): void {
  if (settings.endSessionEndpoint === null) return;
  const query = new URLSearchParams({
    client_id: settings.clientId,
    post_logout_redirect_uri: `${location.origin}/`,
    ...(id !== null && { id_token_hint: id }),
  });
  location.assign(`${settings.endSessionEndpoint}?${query}`);
}

async function askForTokens(settings: DashboardSignIn, asked: Record<string, string>): Promise<Tokens> {
  const body = new URLSearchParams({
    ...asked,
    client_id: settings.clientId,
    ...(settings.resource !== null && { resource: settings.resource }),
  });
  const response = await fetch(settings.tokenEndpoint, { method: 'POST', body, credentials: 'omit' }).catch(() => {
    throw new Error('The provider does not answer. Sign in again, or with an API key.');
  });
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (!response.ok || typeof answer.access_token !== 'string') {
    const why = String(answer.error_description ?? answer.error ?? `it answered ${response.status}`);
    throw new Error(`The provider gave no token: ${why}.`);
  }
  const text = (name: string) => (typeof answer[name] === 'string' ? answer[name] : null);
  const seconds = Number(answer.expires_in);
  return {
    access: answer.access_token,
    refresh: text('refresh_token'),
    id: text('id_token'),
    expiresAt: seconds > 0 ? Date.now() + seconds * 1000 : null,
  };
}

function redirectUri(): string {
  return `${location.origin}${DASHBOARD_PATHS.signIn}`;
}

function placeToReturnTo(): string {
  return location.pathname === DASHBOARD_PATHS.signIn
    ? DASHBOARD_PATHS.rollouts
    : `${location.pathname}${location.search}`;
}

function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
