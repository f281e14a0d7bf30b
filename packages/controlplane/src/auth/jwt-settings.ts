import { type Scope, scopeSchema } from '@hoodcloud/contracts/http/scopes';
import { z } from 'zod';
import type { JwtSettings } from './jwt.ts';
import type { OidcSettings } from './oidc-discovery.ts';

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/;

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

const roles = z.string().transform((text, context) => {
  const found: Record<string, Scope> = {};
  for (const pair of text.split(',')) {
    const at = pair.lastIndexOf('=');
    const scope = scopeSchema.safeParse(pair.slice(at + 1).trim());
    if (at < 1 || !scope.success) {
      context.addIssue({ code: 'custom', message: 'must be ROLE=SCOPE,… with the scopes read, operate and admin' });
      return z.NEVER;
    }
    found[pair.slice(0, at).trim()] = scope.data;
  }
  return found;
});

/** The variables that say whose JWTs are taken. */
export const JWT_VARIABLES = {
  HOODCLOUD_JWT_ISSUER: z.string().min(1).optional().describe('whose JWTs are taken beside API keys (RS256, EdDSA)'),
  HOODCLOUD_JWT_AUDIENCE: z.string().min(1).optional().describe('for whom they are made'),
  HOODCLOUD_JWT_JWKS: z
    .string()
    .refine((at) => !at.startsWith('http:') || LOOPBACK.test(at), 'must be an https URL or a file')
    .optional()
    .describe('https URL or file with the issuer’s keys'),
  HOODCLOUD_JWT_AUTHORIZED_PARTIES: list
    .default([])
    .describe('clients (`azp`) whose tokens are taken, by commas; none: any'),
  HOODCLOUD_JWT_CLOCK_TOLERANCE_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .max(300)
    .default(30)
    .describe('how far clocks may differ'),
  HOODCLOUD_JWT_ROLES_CLAIM: z.string().min(1).optional().describe('path to a claim that the issuer alone writes'),
  HOODCLOUD_JWT_ROLES: roles
    .optional()
    .describe('what its values grant: `sre=admin,on-call=operate`; a token’s own `scope` grants nothing'),
  HOODCLOUD_OIDC_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe('public client (PKCE) by which people sign in to the dashboard at the issuer; none: by API key only'),
  HOODCLOUD_OIDC_SCOPES: z
    .string()
    .min(1)
    .default('openid')
    .describe('what the dashboard asks the issuer for, by blanks'),
  HOODCLOUD_OIDC_RESOURCE: z
    .url()
    .optional()
    .describe('for whom the access token is made (RFC 8707), for issuers that want to be told'),
};

type Values = z.infer<z.ZodObject<typeof JWT_VARIABLES>>;

export interface JwtSettingsRead {
  /** null: no JWT is taken. */
  readonly settings: (JwtSettings & { readonly jwks: string }) | null;
  /** null: people sign in to the dashboard by API key only. */
  readonly oidc: OidcSettings | null;
  readonly problems: readonly string[];
}

/** Puts the variables together; issuer, audience and keys belong together, and so do claim and roles. */
export function jwtSettings(it: Values): JwtSettingsRead {
  const { HOODCLOUD_JWT_ISSUER: issuer, HOODCLOUD_JWT_AUDIENCE: audience, HOODCLOUD_JWT_JWKS: jwks } = it;
  const { HOODCLOUD_JWT_ROLES_CLAIM: rolesClaim, HOODCLOUD_JWT_ROLES: rolesOfClaim } = it;
  const problems: string[] = [];
  if ((rolesClaim === undefined) !== (rolesOfClaim === undefined)) {
    problems.push('HOODCLOUD_JWT_ROLES_CLAIM and HOODCLOUD_JWT_ROLES belong together: set both or neither');
  }
  const given = [issuer, audience, jwks].filter((value) => value !== undefined).length;
  if (given !== 0 && given !== 3) {
    problems.push(
      'HOODCLOUD_JWT_ISSUER, HOODCLOUD_JWT_AUDIENCE and HOODCLOUD_JWT_JWKS belong together: set all of them or none',
    );
  }
  const { HOODCLOUD_OIDC_CLIENT_ID: clientId, HOODCLOUD_OIDC_SCOPES: scopes, HOODCLOUD_OIDC_RESOURCE: resource } = it;
  if (clientId !== undefined && given === 0) {
    problems.push('HOODCLOUD_OIDC_CLIENT_ID needs HOODCLOUD_JWT_ISSUER, whose tokens the API is to take');
  }
  if (issuer === undefined || audience === undefined || jwks === undefined)
    return { settings: null, oidc: null, problems };
  return {
    oidc: clientId === undefined ? null : { issuer, clientId, scopes, resource: resource ?? null },
    settings: {
      issuer,
      audience,
      jwks,
      authorizedParties: it.HOODCLOUD_JWT_AUTHORIZED_PARTIES,
      clockToleranceSeconds: it.HOODCLOUD_JWT_CLOCK_TOLERANCE_SECONDS,
      rolesClaim: rolesClaim ?? null,
      roles: rolesOfClaim ?? {},
    },
    problems,
  };
}
