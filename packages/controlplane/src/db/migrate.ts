import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Kysely, type Migration, type MigrationProvider, Migrator, sql } from 'kysely';
import type { Database } from './database.ts';

const FOLDER = fileURLToPath(new URL('./migrations/', import.meta.url));

/** Plain `.sql` files, in order of their names, forward only. */
class SqlFileMigrations implements MigrationProvider {
  async getMigrations(): Promise<Record<string, Migration>> {
    const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql'));
    const entries = await Promise.all(
      names.map(async (name) => {
        const text = await readFile(`${FOLDER}/${name}`, 'utf8');
        return [
          name.replace(/\.sql$/, ''),
          {
            up: (db: Kysely<unknown>) =>
              sql
                .raw(text)
                .execute(db)
                .then(() => undefined),
          },
        ] as const;
      }),
    );
    return Object.fromEntries(entries);
  }
}

/**
 * Brings the database to the newest schema; safe to run from many processes at once (kysely takes a lock).
 * @returns names of the migrations that ran
 * @throws the database's error, naming the migration that failed; nothing of it is kept
 */
export async function migrate(db: Database): Promise<string[]> {
  const { error, results } = await new Migrator({ db, provider: new SqlFileMigrations() }).migrateToLatest();
  const failed = results?.find((result) => result.status === 'Error');
  if (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new Error(failed ? `migration ${failed.migrationName} failed: ${cause}` : `migrations failed: ${cause}`, {
      cause: error,
    });
  }
  return (results ?? []).map((result) => result.migrationName);
}
