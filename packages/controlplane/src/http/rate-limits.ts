import rateLimit from '@fastify/rate-limit';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import { actorOf } from '../auth/actor.ts';
import { ProblemError } from './problem-error.ts';

const MINUTE_MS = 60_000;
/** An event loop that is this late answers nobody in time; new requests would only make it later. */
const MOST_DELAY_MS = 5_000;
const RETRY_AFTER_SECONDS = 10;

/**
 * Bounds what one caller may ask of this process: each key and each user has an account of its own, so that a script gone
 * wild takes nothing from the others. Accounts are in memory: two API processes give twice as much. Strangers are not
 * counted by address, since behind a proxy they all have one and would shut out everybody.
 */
export async function limitRates(api: FastifyInstance, requestsPerMinute: number): Promise<void> {
  await api.register(rateLimit, { global: false, timeWindow: MINUTE_MS });
  const ask = api.createRateLimit({ max: requestsPerMinute, timeWindow: MINUTE_MS, keyGenerator: actorOf });
  api.addHook('onRequest', async (request, reply) => {
    const account = await ask(request);
    if (account.isAllowed) return;
    reply.headers({
      'ratelimit-limit': account.max,
      'ratelimit-remaining': account.remaining,
      'ratelimit-reset': account.ttlInSeconds,
    });
    if (!account.isExceeded) return;
    const seconds = Math.max(1, account.ttlInSeconds);
    reply.header('retry-after', seconds);
    const message = `${actorOf(request)} sends more than ${account.max} requests a minute; go on in ${seconds} seconds.`;
    throw new ProblemError(429, 'rate_limited', message, { details: { retry_after_seconds: seconds } });
  });
}

/** Answers 503 instead of queueing when the process can't keep up; health and metrics still answer. */
export async function refuseUnderPressure(api: FastifyInstance): Promise<void> {
  await api.register(underPressure, {
    maxEventLoopDelay: MOST_DELAY_MS,
    retryAfter: RETRY_AFTER_SECONDS,
    pressureHandler: (_request, reply) => {
      reply.header('retry-after', RETRY_AFTER_SECONDS);
      throw new ProblemError(503, 'overloaded', 'The API has more to do than it can; try again in some seconds.');
    },
  });
}
