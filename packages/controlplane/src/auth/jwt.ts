import type { Scope } from '@hoodcloud/contracts/http/scopes';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { ProblemError } from '../http/problem-error.ts';
import { type Authenticator, unauthorized } from './dual-auth-middleware.ts';
import { KeysUnavailableError } from './jwks-source.ts';

/** No symmetric algorithm and no `none`: whoever holds the issuer's public keys must not be able to make a token. */
const ALGORITHMS = ['RS256', 'EdDSA'];
/** What fits into a column and a log line. */
const SUBJECT = /^[\x21-\x7e]{1,200}$/;
/** No token of an issuer is near it; checked before anything is decoded. */
const MOST_CHARACTERS = 16_384;

export interface JwtSettings {
  readonly issuer: string;
  /** What a token's `aud` must name. */
  readonly audience: string;
  /** Clients whose tokens are taken (`azp`); empty: any, unless the token is meant for several audiences. */
  readonly authorizedParties: readonly string[];
  readonly clockToleranceSeconds: number;
  /** Path to a claim that the issuer alone writes, e.g. `realm_access.roles`; null: only the grant table counts. */
  readonly rolesClaim: string | null;
  /** What a value of that claim grants. */
  readonly roles: Readonly<Record<string, Scope>>;
}

export interface JwtParts {
  readonly settings: JwtSettings;
  readonly key: JWTVerifyGetKey;
  /** What the backend has granted this subject (table `scope_grants`). */
  readonly grantsOf: (subject: string) => Promise<readonly Scope[]>;
  readonly now?: () => Date;
}

/**
 * Tells who sends a JWT. Scopes come from the grant table and from the roles claim that the settings name; the token's own
 * `scope` is read by nobody, since a client asks for it itself (spec "API Surface": users cannot self-assign `admin`).
 */
export function jwtAuthenticator({ settings, key, grantsOf, now = () => new Date() }: JwtParts): Authenticator {
  return {
    authenticate: async (credentials) => {
      if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(credentials) || credentials.length > MOST_CHARACTERS) return null;
      const payload = await verified(credentials, settings, key, now());
      const subject = payload.sub ?? '';
      if (!SUBJECT.test(subject)) throw unauthorized('The token names no subject that can be recorded.');
      requireParty(payload, settings);
      const scopes = [...(await grantsOf(subject)), ...scopesOfRoles(payload, settings)];
      return { actor: `user:${subject}`, scopes: [...new Set(scopes)] };
    },
  };
}

async function verified(
  token: string,
  { issuer, audience, clockToleranceSeconds }: JwtSettings,
  key: JWTVerifyGetKey,
  currentDate: Date,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ALGORITHMS,
      issuer,
      audience,
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ['exp', 'sub'],
      currentDate,
    });
    return payload;
  } catch (cause) {
    if (cause instanceof KeysUnavailableError) {
      throw new ProblemError(
        503,
        'identity_provider_unavailable',
        'The issuer of the token can not be asked for its keys.',
        {
          cause,
        },
      );
    }
    if (cause instanceof errors.JWTExpired) throw unauthorized('The token has expired; get a new one.');
    throw unauthorized('The token does not hold: its signature, issuer, audience or times are wrong.');
  }
}

/** OpenID Connect Core 3.1.3.7: a token for several audiences must say for whom it was made, and we must know them. */
function requireParty({ azp, aud }: JWTPayload, { authorizedParties }: JwtSettings): void {
  const severalAudiences = Array.isArray(aud) && aud.length > 1;
  if (authorizedParties.length === 0 && !severalAudiences) return;
  if (typeof azp === 'string' && authorizedParties.includes(azp)) return;
  throw unauthorized('The token was made for a client that this control plane does not take.');
}

function scopesOfRoles(payload: JWTPayload, { rolesClaim, roles }: JwtSettings): Scope[] {
  if (rolesClaim === null) return [];
  let claim: unknown = Object.hasOwn(payload, rolesClaim) ? payload[rolesClaim] : undefined;
  if (claim === undefined) {
    claim = payload;
    for (const part of rolesClaim.split('.')) {
      claim =
        typeof claim === 'object' && claim !== null && Object.hasOwn(claim, part)
          ? Reflect.get(claim, part)
          : undefined;
    }
  }
  const values = Array.isArray(claim) ? claim : [claim];
  return values.flatMap((value) =>
    typeof value === 'string' && Object.hasOwn(roles, value) ? [roles[value] as Scope] : [],
  );
}
