import { dryRunQuerySchema } from '@hoodcloud/contracts/http/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Transaction } from 'kysely';
import { z } from 'zod';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/generated/tables.ts';
import { onceByKey } from './idempotency.ts';

/** What every mutation takes beside its own input: `Idempotency-Key` (C10c). */
const headers = z.looseObject({ 'idempotency-key': z.string().min(1).max(255).optional() });

/** Part of the schema of every route that changes something. */
export const mutationSchema = { querystring: dryRunQuerySchema, headers } as const;

/** The same where two operators may collide: with `If-Match` it is refused when the thing changed since they looked. */
export const conditionalMutationSchema = {
  querystring: dryRunQuerySchema,
  headers: headers.extend({ 'if-match': z.string().min(1).max(200).optional() }),
} as const;

export interface Mutation<Body> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Of the real thing; a dry run answers 200. */
  readonly status: 200 | 201 | 202;
  readonly work: (tx: Transaction<Tables>) => Promise<Body>;
  /** The answer without what is shown only once: what a dry run and a replay give. */
  readonly withoutSecret?: (body: Body) => Body;
}

/**
 * The one way in which a request changes something: in one transaction, once per `Idempotency-Key`, and with
 * `?dry_run=true` every check is made and the answer shown, but the transaction is rolled back.
 */
export async function mutate<Body>(db: Database, mutation: Mutation<Body>): Promise<Body> {
  const { dry_run: dryRun } = mutation.request.query as { dry_run?: boolean };
  return dryRun ? rehearse(db, mutation) : onceByKey(db, mutation);
}

async function rehearse<Body>(db: Database, { reply, work, withoutSecret }: Mutation<Body>): Promise<Body> {
  const transaction = await db.startTransaction().execute();
  try {
    const body = await work(transaction as unknown as Transaction<Tables>);
    reply.code(200).header('dry-run', 'true');
    return withoutSecret ? withoutSecret(body) : body;
  } finally {
    await transaction.rollback().execute();
  }
}
