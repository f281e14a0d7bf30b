import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { sql, type Transaction } from 'kysely';
import { actorOf } from '../auth/actor.ts';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/generated/tables.ts';
import { json } from '../db/json.ts';
import type { Mutation } from './mutation.ts';
import { ProblemError } from './problem-error.ts';

/**
 * Does the work once per `Idempotency-Key` (C10c): the answer is stored in the work's transaction, without its secret, and
 * given again to the same request; a failure is not stored, so it may be tried again. Without a key the work just runs.
 * @throws ProblemError 422 when the key was used for another request
 */
export async function onceByKey<Body>(db: Database, mutation: Mutation<Body>): Promise<Body> {
  const { request, reply, status, work, withoutSecret } = mutation;
  const key = request.headers['idempotency-key'];
  return db.transaction().execute(async (tx) => {
    reply.code(status);
    if (typeof key !== 'string' || key === '') return work(tx);
    const actor = actorOf(request);
    // the second of two requests at once waits here for the answer of the first
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${actor}\n${key}`}, 0))`.execute(tx);
    const stored = await storedAnswer(tx, actor, key, requestHash(request));
    if (stored) {
      reply.code(stored.response_status).header('idempotency-replayed', 'true');
      return stored.response_body as Body;
    }
    const body = await work(tx);
    const kept = withoutSecret ? withoutSecret(body) : body;
    await tx
      .insertInto('idempotency_keys')
      .values({ key, actor, request_hash: requestHash(request), response_status: status, response_body: json(kept) })
      .execute();
    return body;
  });
}

async function storedAnswer(tx: Transaction<Tables>, actor: string, key: string, hash: string) {
  const stored = await tx
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'response_status', 'response_body'])
    .where('actor', '=', actor)
    .where('key', '=', key)
    .executeTakeFirst();
  if (stored && stored.request_hash !== hash) {
    throw new ProblemError(
      422,
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request; make a new one for each thing you do.',
    );
  }
  return stored;
}

function requestHash(request: FastifyRequest): string {
  return createHash('sha256')
    .update(`${request.method} ${request.url}\n${JSON.stringify(request.body)}`)
    .digest('hex');
}
