import { type Database, openDatabase, openPool } from '@hoodcloud/controlplane/db/database';
import { migrate } from '@hoodcloud/controlplane/db/migrate';
import type { Pool } from 'pg';
import { createTestDatabase } from './postgres.ts';

export interface MigratedDatabase {
  readonly db: Database;
  readonly pool: Pool;
  readonly url: string;
  /** Ends the connections and removes the database. */
  dispose(): Promise<void>;
}

/** An empty database of the caller's own with the product's newest schema. */
export async function createMigratedDatabase(): Promise<MigratedDatabase> {
  const database = await createTestDatabase({ migrate: migrateAt });
  const pool = openPool(database.url, { max: 10, onIdleError: ignoreDroppedDatabase });
  const db = openDatabase(pool);
  return {
    db,
    pool,
    url: database.url,
    dispose: async () => {
      await db.destroy();
      await database.drop();
    },
  };
}

async function migrateAt(url: string): Promise<void> {
  const db = openDatabase(openPool(url, { max: 1, onIdleError: ignoreDroppedDatabase }));
  try {
    await migrate(db);
  } finally {
    await db.destroy();
  }
}

/** An idle connection breaks when a test kills its server or drops its database: what it does next fails by itself. */
function ignoreDroppedDatabase(error: Error): void {
  if (process.env.HOODCLOUD_TEST_VERBOSE) console.error(`idle test connection: ${error.message}`);
}
