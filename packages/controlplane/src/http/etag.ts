import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from './problem-error.ts';

/** A strong entity tag of what an operator decides upon; progress that changes by itself is not part of it. */
export function etagOf(values: readonly (string | number | Date | null)[]): string {
  return `"${createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22)}"`;
}

/**
 * Refuses a change of what is not any more what the caller saw. Call it where the row is locked.
 * @throws ProblemError 412 when `If-Match` names another state
 */
export function requireMatch(request: FastifyRequest, etag: string): void {
  const given = request.headers['if-match'];
  if (given === undefined || given === '*') return;
  if (given.split(',').some((tag) => tag.trim() === etag)) return;
  throw new ProblemError(412, 'changed_meanwhile', 'It changed since you looked: read it again, then decide.', {
    details: { etag },
  });
}
