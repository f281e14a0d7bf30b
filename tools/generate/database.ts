/** Writes what follows from the migrations: the table types for kysely and the schema as SQL. */
import { writeFile } from 'node:fs/promises';
import { openDatabase, openPool } from '@hoodcloud/controlplane/db/database';
import { migrate } from '@hoodcloud/controlplane/db/migrate';
import { dumpSchema } from '@hoodcloud/controlplane/db/schema-dump';
import { generateTableTypes } from '@hoodcloud/controlplane/db/table-types';
import { startTestPostgres } from '@hoodcloud/testkit/postgres';

const FOLDER = new URL('../../packages/controlplane/src/db/', import.meta.url);

const { server, dispose } = await startTestPostgres();
try {
  const pool = openPool(server.url(), { max: 2, onIdleError: (error) => console.error(error.message) });
  const db = openDatabase(pool);
  await migrate(db);
  await writeFile(new URL('generated/tables.ts', FOLDER), await generateTableTypes(pool));
  await writeFile(new URL('schema.sql', FOLDER), await dumpSchema(pool));
  await db.destroy();
} finally {
  await dispose();
}
