import { includesScope, type Scope } from '@hoodcloud/contracts/http/scopes';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../http/problem-error.ts';
import { type Identity, setIdentity } from './actor.ts';

/** One way to tell who sends a request: API keys, and JWT when an issuer is configured. */
export interface Authenticator {
  /**
   * @returns null when the credentials are not of this kind
   * @throws ProblemError 401 when they are, but don't hold
   */
  authenticate(credentials: string): Promise<Identity | null>;
}

/**
 * The specification's `DualAuthMiddleware`: the first authenticator that knows the credentials decides who it is; then the
 * scope that the route states is checked.
 */
export function dualAuthMiddleware(authenticators: readonly Authenticator[]) {
  return async (request: FastifyRequest): Promise<void> => {
    const credentials = credentialsOf(request);
    if (credentials === null) {
      throw unauthorized('Send an API key or a JWT: Authorization: Bearer …; a key also as X-API-Key.');
    }
    for (const authenticator of authenticators) {
      const identity = await authenticator.authenticate(credentials);
      if (!identity) continue;
      requireScope(identity, request.routeOptions.config.scope ?? 'admin');
      setIdentity(request, identity);
      return;
    }
    throw unauthorized('The credentials are of no kind that this control plane knows.');
  };
}

function requireScope({ actor, scopes }: Identity, needed: Scope): void {
  if (includesScope(scopes, needed)) return;
  const held = scopes.length === 0 ? 'none' : scopes.join(', ');
  throw new ProblemError(403, 'scope_missing', `This needs the scope "${needed}"; ${actor} has ${held}.`, {
    details: { needed, held: [...scopes] },
  });
}

/** 401 that says nothing about which part was wrong. */
export function unauthorized(detail: string): ProblemError {
  return new ProblemError(401, 'unauthorized', detail);
}

function credentialsOf(request: FastifyRequest): string | null {
  const { authorization, 'x-api-key': apiKey } = request.headers;
  if (typeof apiKey === 'string' && apiKey !== '') return apiKey;
  return /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? null;
}
