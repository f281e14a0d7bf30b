import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '@hoodcloud/contracts/http/scopes';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProblemError } from '../http/problem-error.ts';
import { JwksSource } from './jwks-source.ts';
import { type JwtSettings, jwtAuthenticator } from './jwt.ts';
import { TestIssuer } from './testing/test-issuer.ts';

const SETTINGS: JwtSettings = {
  issuer: TestIssuer.ISSUER,
  audience: TestIssuer.AUDIENCE,
  authorizedParties: [],
  clockToleranceSeconds: 30,
  rolesClaim: 'realm_access.roles',
  roles: { sre: 'admin', 'on-call': 'operate' },
};

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await TestIssuer.start();
  await issuer.addKey('edwards', 'EdDSA');
  await issuer.addKey('elliptic', 'ES256');
});
afterAll(() => issuer.stop());

interface Parts {
  readonly settings?: Partial<JwtSettings>;
  readonly location?: string;
  readonly granted?: readonly Scope[];
  readonly clock?: { now: number };
}

function authenticator({ settings, location = issuer.url, granted = [], clock }: Parts = {}) {
  const source = new JwksSource({ location, ...(clock && { now: () => clock.now }) });
  return jwtAuthenticator({ settings: { ...SETTINGS, ...settings }, key: source.key, grantsOf: async () => granted });
}

/** The scopes of a token that holds, else status and code of the refusal. */
async function outcome(auth: ReturnType<typeof authenticator>, token: string): Promise<unknown> {
  try {
    return (await auth.authenticate(token))?.scopes ?? 'not a JWT';
  } catch (error) {
    const { status, code } = error as ProblemError;
    return [status, code];
  }
}

const REFUSED = [401, 'unauthorized'];

describe('a JWT holds', () => {
  it.each(['first', 'edwards'])('when it is signed by the key "%s" (RS256, EdDSA)', async (kid) => {
    const identity = await authenticator({ granted: ['operate'] }).authenticate(await issuer.token({}, { kid }));
    expect(identity).toEqual({ actor: 'user:alice', scopes: ['operate'] });
  });

  it('with the scopes of the roles claim that the settings name, beside what is granted', async () => {
    const token = await issuer.token({ realm_access: { roles: ['sre', 'something-else'] } });
    expect(await outcome(authenticator({ granted: ['read'] }), token)).toEqual(['read', 'admin']);
  });

  it.each([
    ['scope', 'admin read operate'],
    ['scp', ['admin']],
    ['roles', ['sre']],
    ['realm_access.roles.0', 'sre'],
    ['permissions', ['admin']],
  ])('but its own claim %s grants nothing (spec: admin can not be self-assigned)', async (claim, value) => {
    expect(await outcome(authenticator(), await issuer.token({ [claim]: value }))).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('and a role named %s grants nothing', async (role) => {
    const token = await issuer.token({ realm_access: { roles: [role] } });
    expect(await outcome(authenticator(), token)).toEqual([]);
  });

  it('within the clock tolerance, and not beyond', async () => {
    expect(await outcome(authenticator(), await issuer.token({}, { expiresIn: -10 }))).toEqual([]);
    expect(await outcome(authenticator(), await issuer.token({}, { expiresIn: -60 }))).toEqual(REFUSED);
  });
});

describe('a JWT is refused', () => {
  const now = Math.floor(Date.now() / 1000);
  it.each<[string, Record<string, unknown>]>([
    ['of another issuer', { iss: 'https://elsewhere.example' }],
    ['for another audience', { aud: 'shop' }],
    ['without audience', { aud: undefined }],
    ['without expiry', { exp: undefined }],
    ['that holds only later', { nbf: now + 3600 }],
    ['without subject', { sub: undefined }],
    ['whose subject would break a log line', { sub: 'a\nb' }],
    ['whose subject is longer than a history takes', { sub: 'a'.repeat(201) }],
    ['for several audiences, made for nobody we know', { aud: ['hoodcloud', 'shop'], azp: 'shop' }],
  ])('%s', async (_, claims) => {
    expect(await outcome(authenticator(), await issuer.token(claims))).toEqual(REFUSED);
  });

  it.each([
    ['another client', 'shop', REFUSED],
    ['no client', undefined, REFUSED],
    ['the console', 'console', []],
  ])('when only the console may call and it was made for %s (azp)', async (_, azp, expected) => {
    const auth = authenticator({ settings: { authorizedParties: ['console'] } });
    expect(await outcome(auth, await issuer.token({ azp }))).toEqual(expected);
  });

  it('signed by an algorithm that is not allowed, or by none', async () => {
    expect(await outcome(authenticator(), await issuer.token({}, { kid: 'elliptic' }))).toEqual(REFUSED);
    const [, body] = (await issuer.token()).split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none', kid: 'first' })).toString('base64url');
    expect(await outcome(authenticator(), `${none}.${body}.AA`)).toEqual(REFUSED);
    // the public key taken for a shared secret
    const forged = await new SignJWT({ sub: 'mallory', exp: now + 300, iss: SETTINGS.issuer, aud: SETTINGS.audience })
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(Buffer.from(issuer.jwks));
    expect(await outcome(authenticator(), forged)).toEqual(REFUSED);
  });

  it('whose content was changed after it was signed', async () => {
    const [head, body, signature] = (await issuer.token()).split('.');
    const changed = JSON.parse(Buffer.from(String(body), 'base64url').toString());
    const other = Buffer.from(JSON.stringify({ ...changed, sub: 'root' })).toString('base64url');
    expect(await outcome(authenticator(), `${head}.${other}.${signature}`)).toEqual(REFUSED);
  });

  it('is left to another authenticator when it is none', async () => {
    expect(await outcome(authenticator(), 'hc_id.secret')).toBe('not a JWT');
  });
});

describe("the issuer's keys", () => {
  it('may rotate: an unknown kid makes us read them again, but a flood of unknown ones does not', async () => {
    const clock = { now: 0 };
    const auth = authenticator({ clock });
    const before = issuer.asked;
    expect(await outcome(auth, await issuer.token())).toEqual([]);
    await issuer.addKey('second', 'RS256');
    const token = await issuer.token({}, { kid: 'second' });
    expect(await outcome(auth, token)).toEqual(REFUSED);
    clock.now += 31_000;
    expect(await outcome(auth, token)).toEqual([]);
    expect(issuer.asked - before).toBe(2);
    await issuer.addKey('never-published', 'RS256');
    issuer.withdraw('never-published');
    const unknown = await issuer.token({}, { kid: 'never-published' });
    clock.now += 31_000;
    for (let attempt = 0; attempt < 20; attempt++) expect(await outcome(auth, unknown)).toEqual(REFUSED);
    expect(issuer.asked - before).toBe(3);
  });

  it('are kept for an hour while the issuer can not be asked; a withdrawn one goes with the next reading', async () => {
    const clock = { now: 0 };
    const auth = authenticator({ clock });
    await issuer.addKey('short', 'RS256');
    const token = await issuer.token({}, { kid: 'short' });
    expect(await outcome(auth, token)).toEqual([]);
    issuer.status = 500;
    clock.now += 30 * 60_000;
    expect(await outcome(auth, token)).toEqual([]);
    clock.now += 31 * 60_000;
    expect(await outcome(auth, token)).toEqual([503, 'identity_provider_unavailable']);
    issuer.status = 200;
    issuer.withdraw('short');
    clock.now += 31_000;
    expect(await outcome(auth, token)).toEqual(REFUSED);
  });

  it('that can not be had are no reason to call the token wrong', async () => {
    const auth = authenticator({ location: 'http://127.0.0.1:1/jwks' });
    expect(await outcome(auth, await issuer.token())).toEqual([503, 'identity_provider_unavailable']);
  });

  it('may stand in a file, which is read again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-jwks-'));
    const file = join(folder, 'jwks.json');
    writeFileSync(file, issuer.jwks);
    const clock = { now: 0 };
    const auth = authenticator({ location: file, clock });
    expect(await outcome(auth, await issuer.token())).toEqual([]);
    await issuer.addKey('third', 'EdDSA');
    writeFileSync(file, issuer.jwks);
    clock.now += 31_000;
    expect(await outcome(auth, await issuer.token({}, { kid: 'third' }))).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});
