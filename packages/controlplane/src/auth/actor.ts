import { includesScope, type Scope } from '@hoodcloud/contracts/http/scopes';
import type { FastifyRequest } from 'fastify';

/** Who sent a request. */
export interface Identity {
  /** `key:<name>` or `user:<subject>`: what the history shows. */
  readonly actor: string;
  /** Granted by the backend; never taken from what the caller says about itself. */
  readonly scopes: readonly Scope[];
}

const identities = new WeakMap<FastifyRequest, Identity>();

/** Remembers who sent the request, once it is known. */
export function setIdentity(request: FastifyRequest, identity: Identity): void {
  identities.set(request, identity);
}

/** Who sent an authenticated request. */
export function identityOf(request: FastifyRequest): Identity {
  const identity = identities.get(request);
  if (!identity) throw new Error('the request was not authenticated: its route is outside /api/v1');
  return identity;
}

/** The actor of an authenticated request. */
export function actorOf(request: FastifyRequest): string {
  return identityOf(request).actor;
}

/** Whether the caller may create rollouts, whatever the route asks. */
export function mayCreate(request: FastifyRequest): boolean {
  return includesScope(identityOf(request).scopes, 'admin');
}
