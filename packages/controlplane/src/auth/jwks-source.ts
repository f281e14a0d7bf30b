import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';

/** How old keys may be before they are read again. */
const FRESH_MS = 10 * 60_000;
/** How old they may be while the issuer can't be reached: longer, and a withdrawn key would still open. */
const USABLE_MS = 60 * 60_000;
/** A token with an unknown `kid` makes us read again, but not more often than this: anybody can send one. */
const UNKNOWN_KEY_EVERY_MS = 30_000;
const TIMEOUT_MS = 5_000;
const MOST_BYTES = 256 * 1024;

const jwksSchema = z.object({
  keys: z
    .array(z.looseObject({ kty: z.string() }))
    .min(1)
    .max(100),
});

/** The issuer's keys can't be had, which says nothing about the token. */
export class KeysUnavailableError extends Error {
  constructor(location: string, cause: unknown) {
    super(`the keys of the JWT issuer can't be read from ${location}`, { cause });
    this.name = 'KeysUnavailableError';
  }
}

export interface JwksSourceParts {
  /** An https URL, or a file; the file is read again like the URL, so that keys rotate without a restart. */
  readonly location: string;
  readonly now?: () => number;
  readonly fetch?: typeof fetch;
}

/** The public keys of a JWT issuer, read when they are first needed, when they are old, and when a key is unknown. */
export class JwksSource {
  readonly #location: string;
  readonly #now: () => number;
  readonly #fetch: typeof fetch;
  #keys: ReturnType<typeof createLocalJWKSet> | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor({ location, now = Date.now, fetch: fetchWith = fetch }: JwksSourceParts) {
    this.#location = location;
    this.#now = now;
    this.#fetch = fetchWith;
  }

  /**
   * The key that a token's header names, for jose's `jwtVerify`.
   * @throws KeysUnavailableError when no keys can be had, jose's JWKSNoMatchingKey when there is no such key
   */
  readonly key: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (this.#now() - this.#triedAt < UNKNOWN_KEY_EVERY_MS) throw error;
      await this.#read();
      return (this.#keys ?? keys)(header, token);
    }
  };

  async #current(): Promise<ReturnType<typeof createLocalJWKSet>> {
    const age = this.#now() - this.#readAt;
    const mayTry = this.#keys === null || this.#now() - this.#triedAt >= UNKNOWN_KEY_EVERY_MS;
    if (age >= FRESH_MS && mayTry) {
      await this.#read().catch((error: unknown) => {
        if (this.#keys === null || age >= USABLE_MS) throw error; // else the keys of before are still good
      });
    }
    if (this.#keys === null || this.#now() - this.#readAt >= USABLE_MS) {
      throw new KeysUnavailableError(this.#location, null);
    }
    return this.#keys;
  }

  /** Many requests at once wait for one reading. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    this.#triedAt = this.#now();
    try {
      const found = jwksSchema.parse(JSON.parse(await this.#text()));
      this.#keys = createLocalJWKSet(found as JSONWebKeySet);
      this.#readAt = this.#now();
    } catch (cause) {
      throw new KeysUnavailableError(this.#location, cause);
    }
  }

  async #text(): Promise<string> {
    if (!/^https?:/.test(this.#location)) return readFile(this.#location, 'utf8');
    const response = await this.#fetch(this.#location, {
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { accept: 'application/json' },
    });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    const text = await response.text();
    if (text.length > MOST_BYTES) throw new Error(`it answers more than ${MOST_BYTES} bytes`);
    return text;
  }
}
