import type { FastifyInstance } from 'fastify';
import type { Database } from './db/database.ts';

/** A role is a filter over features: api mounts the routes, gateway the streams, worker the activities, reconciler the loops. */
export interface Feature {
  readonly name: string;
  readonly routes?: (api: FastifyInstance) => void;
  /** Temporal activities by their name in the specification. */
  readonly activities?: Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;
  readonly reconcilers?: readonly Reconciler[];
}

/** A loop that compares rows with the world and acts on the difference; idempotent. */
export interface Reconciler {
  readonly name: string;
  readonly intervalMs: number;
  /** NOTIFY channel that wakes it early; null when only time does. */
  readonly wokenBy: string | null;
  /** `leader`: one instance at a time, by an advisory lock; `shared`: any number, by SKIP LOCKED. */
  readonly runs: 'leader' | 'shared';
  /** @returns how many things it did; more than 0 makes it run again at once. */
  readonly run: (now: Date) => Promise<number>;
}

/** What every feature may need. */
export interface Services {
  readonly db: Database;
  readonly log: Logger;
}

/** The part of pino that features use. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
