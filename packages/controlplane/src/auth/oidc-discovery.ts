import type { DashboardSignIn } from '@hoodcloud/contracts/http/dashboard-sign-in';
import { z } from 'zod';

/** How long what the provider says of itself is taken as it is. */
const FRESH_MS = 10 * 60_000;
/** A provider that does not answer is asked again no sooner. */
const TRY_AGAIN_MS = 15_000;
const TIMEOUT_MS = 5_000;
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/;

const endpoint = z.url().refine((url) => url.startsWith('https://') || LOOPBACK.test(url), 'must be an https URL');
/** OpenID Connect Discovery 1.0, section 3; what the dashboard needs of it. */
const metadataSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  end_session_endpoint: endpoint.optional(),
});

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: string;
  readonly resource: string | null;
}

/**
 * What the page needs to sign people in by OpenID Connect. The server asks the provider, not the page: the page's policy
 * must name where it may connect to before it runs.
 */
export class OidcDiscovery {
  readonly #settings: OidcSettings;
  readonly #onTrouble: (error: unknown) => void;
  #known: DashboardSignIn | null = null;
  #askAfter = 0;
  #asking: Promise<void> = Promise.resolve();

  /** @param onTrouble told when the provider can't be asked; the page then has what was known before */
  constructor(settings: OidcSettings, onTrouble: (error: unknown) => void) {
    this.#settings = settings;
    this.#onTrouble = onTrouble;
  }

  /** null: the provider has never answered; an API key still opens. */
  async signIn(now = Date.now()): Promise<DashboardSignIn | null> {
    if (now >= this.#askAfter) {
      this.#askAfter = now + TRY_AGAIN_MS;
      this.#asking = this.#learn(now);
    }
    // what is known is good enough while it is asked for anew
    if (this.#known === null) await this.#asking;
    return this.#known;
  }

  async #learn(now: number): Promise<void> {
    try {
      this.#known = await this.#ask();
      this.#askAfter = now + FRESH_MS;
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  async #ask(): Promise<DashboardSignIn> {
    const { issuer, ...client } = this.#settings;
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    const metadata = metadataSchema.parse(await response.json());
    if (metadata.issuer !== issuer) throw new Error(`${url} is of ${metadata.issuer}, not of ${issuer}`);
    return {
      issuer,
      ...client,
      authorizationEndpoint: metadata.authorization_endpoint,
      tokenEndpoint: metadata.token_endpoint,
      endSessionEndpoint: metadata.end_session_endpoint ?? null,
    };
  }
}
