import { type Scope, scopeSchema } from '@hoodcloud/contracts/http/scopes';
import { z } from 'zod';
import type { JwtSettings } from './jwt.ts';

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
  HOODCLOUD_JWT_ISSUER: z.string().min(1).optional(),
  HOODCLOUD_JWT_AUDIENCE: z.string().min(1).optional(),
  HOODCLOUD_JWT_JWKS: z
    .string()
    .refine((at) => !at.startsWith('http:') || LOOPBACK.test(at), 'must be an https URL or a file')
    .optional(),
  HOODCLOUD_JWT_AUTHORIZED_PARTIES: list.default([]),
  HOODCLOUD_JWT_CLOCK_TOLERANCE_SECONDS: z.coerce.number().int().min(0).max(300).default(30),
  HOODCLOUD_JWT_ROLES_CLAIM: z.string().min(1).optional(),
  HOODCLOUD_JWT_ROLES: roles.optional(),
};

type Values = z.infer<z.ZodObject<typeof JWT_VARIABLES>>;

export interface JwtSettingsRead {
  /** null: no JWT is taken. */
  readonly settings: (JwtSettings & { readonly jwks: string }) | null;
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
  if (issuer === undefined || audience === undefined || jwks === undefined) return { settings: null, problems };
  return {
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
