import { startTestPostgres } from '@hoodcloud/testkit/postgres';

/** vitest's global set-up: one Postgres for the run. The workers inherit the address through their environment. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.HOODCLOUD_TEST_DATABASE_URL) return undefined;
  const { server, dispose } = await startTestPostgres();
  process.env.HOODCLOUD_TEST_DATABASE_URL = server.url();
  return async () => {
    delete process.env.HOODCLOUD_TEST_DATABASE_URL;
    await dispose();
  };
}
