import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Tables } from './generated/tables.ts';

export type Database = Kysely<Tables>;
/** A database or a transaction: repositories take either, so that a caller can put several writes into one. */
export type Db = Kysely<Tables> | Transaction<Tables>;

// Ids and heights stay far below 2^53, so 64-bit integers come as numbers.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/**
 * Opens a pool. Connections that break are replaced by the next query, so their error is only passed on: for one that is
 * lent, between two queries of a transaction, an error that nobody hears would end the process; the next query fails.
 */
export function openPool(
  connectionString: string,
  options: { max: number; onIdleError: (error: Error) => void },
): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: options.max, application_name: 'hoodcloud' });
  pool.on('connect', (client) => client.on('error', options.onIdleError));
  pool.on('error', () => undefined); // the same error of an idle connection, which the line above has passed on
  return pool;
}

/** Kysely over a pool; destroying it ends the pool. */
export function openDatabase(pool: pg.Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
