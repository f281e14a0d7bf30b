import type { FastifyRequest } from 'fastify';

/** Who sent a request. */
export interface Identity {
  /** `key:<name>` or `user:<id>`: what the history shows. */
  readonly actor: string;
  readonly scopes: readonly string[];
}

const identities = new WeakMap<FastifyRequest, Identity>();

/** Remembers who sent the request, once it is known. */
export function setIdentity(request: FastifyRequest, identity: Identity): void {
  identities.set(request, identity);
}

/** The actor of an authenticated request. */
export function actorOf(request: FastifyRequest): string {
  const identity = identities.get(request);
  if (!identity) throw new Error('the request was not authenticated: its route is outside /api/v1');
  return identity.actor;
}
