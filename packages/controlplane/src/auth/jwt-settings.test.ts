import { expect, it } from 'vitest';
import { readConfig } from '../config.ts';

const BASE = { DATABASE_URL: 'postgres://x@y/z', HOODCLOUD_CONFIG_DIR: '.' };
const JWT = {
  HOODCLOUD_JWT_ISSUER: 'https://issuer.example',
  HOODCLOUD_JWT_AUDIENCE: 'hoodcloud',
  HOODCLOUD_JWT_JWKS: 'https://issuer.example/jwks',
};

it('takes no JWT unless an issuer is named', () => {
  expect(readConfig(BASE).jwt).toBeNull();
});

it('reads issuer, audience, keys, clients and roles', () => {
  const { jwt } = readConfig({
    ...BASE,
    ...JWT,
    HOODCLOUD_JWT_AUTHORIZED_PARTIES: 'console, ci',
    HOODCLOUD_JWT_ROLES_CLAIM: 'realm_access.roles',
    HOODCLOUD_JWT_ROLES: 'sre=admin, a=b=read',
  });
  expect(jwt).toEqual({
    issuer: 'https://issuer.example',
    audience: 'hoodcloud',
    jwks: 'https://issuer.example/jwks',
    authorizedParties: ['console', 'ci'],
    clockToleranceSeconds: 30,
    rolesClaim: 'realm_access.roles',
    roles: { sre: 'admin', 'a=b': 'read' },
  });
});

it('lets people sign in to the dashboard at the issuer when a client is named, and else by API key only', () => {
  expect(readConfig({ ...BASE, ...JWT }).oidc).toBeNull();
  expect(readConfig({ ...BASE, ...JWT, HOODCLOUD_OIDC_CLIENT_ID: 'dashboard' }).oidc).toEqual({
    issuer: 'https://issuer.example',
    clientId: 'dashboard',
    scopes: 'openid',
    resource: null,
  });
});

it.each([
  [
    'a client without an issuer',
    { HOODCLOUD_OIDC_CLIENT_ID: 'x' },
    /HOODCLOUD_OIDC_CLIENT_ID needs HOODCLOUD_JWT_ISSUER/,
  ],
  ['an issuer alone', { HOODCLOUD_JWT_ISSUER: 'x' }, /belong together: set all of them or none/],
  ['a claim without roles', { ...JWT, HOODCLOUD_JWT_ROLES_CLAIM: 'roles' }, /set both or neither/],
  ['keys over plain http', { ...JWT, HOODCLOUD_JWT_JWKS: 'http://issuer.example/k' }, /must be an https URL or a file/],
  [
    'a role with a scope that is none',
    { ...JWT, HOODCLOUD_JWT_ROLES_CLAIM: 'roles', HOODCLOUD_JWT_ROLES: 'sre=root' },
    /HOODCLOUD_JWT_ROLES is wrong: it must be ROLE=SCOPE/,
  ],
  ['a tolerance of an hour', { ...JWT, HOODCLOUD_JWT_CLOCK_TOLERANCE_SECONDS: '3600' }, /CLOCK_TOLERANCE/],
])('refuses %s, naming the variable', (_, env, message) => {
  expect(() => readConfig({ ...BASE, ...env })).toThrow(message);
});
