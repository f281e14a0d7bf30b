import { type Database, openPool } from '@hoodcloud/controlplane/db/database';
import type { Tables } from '@hoodcloud/controlplane/db/generated/tables';
import { Kysely, PostgresDialect } from 'kysely';

/** A database that counts what it is asked: for promises on how many statements something costs. */
export interface CountedDatabase {
  readonly db: Database;
  statements(): number;
  dispose(): Promise<void>;
}

/** @param url of a migrated database, which outlives it */
export function countedDatabase(url: string): CountedDatabase {
  let count = 0;
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: openPool(url, { max: 4, onIdleError: () => undefined }) }),
    log: () => {
      count += 1;
    },
  });
  return { db, statements: () => count, dispose: () => db.destroy() };
}
