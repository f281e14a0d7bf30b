import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sql, type Transaction } from 'kysely';
import { actorOf } from '../auth/actor.ts';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/generated/tables.ts';
import { json } from '../db/json.ts';
import { ProblemError } from './problem-error.ts';

const KEY_LIMIT = 255;

/**
 * Does the work of a creating POST once per `Idempotency-Key` (C10c): the answer is stored in the work's transaction and
 * given again to the same request; a failure is not stored, so it may be tried again. Without a key the work just runs.
 * @throws ProblemError 422 when the key was used for another request
 */
export async function onceByKey<Body>(
  db: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Transaction<Tables>) => Promise<Body>,
): Promise<Body> {
  const key = request.headers['idempotency-key'];
  reply.code(201);
  return db.transaction().execute(async (tx) => {
    if (typeof key !== 'string' || key === '') return work(tx);
    if (key.length > KEY_LIMIT) {
      throw new ProblemError(400, 'invalid_idempotency_key', `Idempotency-Key is longer than ${KEY_LIMIT} characters.`);
    }
    const actor = actorOf(request);
    // the second of two requests at once waits here for the answer of the first
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${actor}\n${key}`}, 0))`.execute(tx);
    const stored = await storedAnswer(tx, actor, key, requestHash(request));
    if (stored) {
      reply.header('idempotency-replayed', 'true');
      return stored.response_body as Body;
    }
    const body = await work(tx);
    await tx
      .insertInto('idempotency_keys')
      .values({ key, actor, request_hash: requestHash(request), response_status: 201, response_body: json(body) })
      .execute();
    return body;
  });
}

async function storedAnswer(tx: Transaction<Tables>, actor: string, key: string, hash: string) {
  const stored = await tx
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'response_body'])
    .where('actor', '=', actor)
    .where('key', '=', key)
    .executeTakeFirst();
  if (stored && stored.request_hash !== hash) {
    throw new ProblemError(
      422,
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request; make a new one for each thing you create.',
    );
  }
  return stored;
}

function requestHash(request: FastifyRequest): string {
  return createHash('sha256')
    .update(`${request.method} ${request.url}\n${JSON.stringify(request.body)}`)
    .digest('hex');
}
