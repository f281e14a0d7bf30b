import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

type Key = Awaited<ReturnType<typeof generateKeyPair>>;

/** An issuer of JWTs with a JWKS page of its own on loopback; its keys can be changed and the page be taken away. */
export class TestIssuer {
  static readonly ISSUER = 'https://issuer.example';
  static readonly AUDIENCE = 'hoodcloud';
  readonly #server: Server;
  readonly #keys = new Map<string, { readonly alg: string; readonly pair: Key }>();
  #published: JWK[] = [];
  /** How often the page was asked for. */
  asked = 0;
  /** What the page answers; other than 200: no keys. */
  status = 200;

  private constructor() {
    this.#server = createServer((_request, response) => {
      this.asked += 1;
      response.writeHead(this.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ keys: this.#published }));
    });
  }

  static async start(): Promise<TestIssuer> {
    const issuer = new TestIssuer();
    await issuer.addKey('first', 'RS256');
    await new Promise<void>((resolve) => issuer.#server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/jwks`;
  }

  get jwks(): string {
    return JSON.stringify({ keys: this.#published });
  }

  async addKey(kid: string, alg: 'RS256' | 'EdDSA' | 'ES256'): Promise<void> {
    const pair = await generateKeyPair(alg, { extractable: true });
    this.#keys.set(kid, { alg, pair });
    this.#published.push({ ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' });
  }

  withdraw(kid: string): void {
    this.#published = this.#published.filter((key) => key.kid !== kid);
  }

  /** A token that holds, but for what `claims` and `options` change; a claim that is undefined is left out. */
  async token(
    claims: JWTPayload = {},
    { kid = 'first', expiresIn = 300 }: { kid?: string; expiresIn?: number } = {},
  ): Promise<string> {
    const key = this.#keys.get(kid);
    if (!key) throw new Error(`the issuer has no key ${kid}`);
    const now = Math.floor(Date.now() / 1000);
    const all = {
      iss: TestIssuer.ISSUER,
      aud: TestIssuer.AUDIENCE,
      sub: 'alice',
      iat: now,
      exp: now + expiresIn,
      ...claims,
    };
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    return new SignJWT(given).setProtectedHeader({ alg: key.alg, kid }).sign(key.pair.privateKey);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
