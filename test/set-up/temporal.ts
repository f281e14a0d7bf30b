import { startTestTemporal } from '@hoodcloud/testkit/temporal';
import { ensureTemporal } from '../../tools/temporal/ensure.mjs';

/**
 * vitest's global set-up: one real Temporal server for the run. It finds or builds the server itself when vitest is run
 * without `npm test`.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.HOODCLOUD_TEST_TEMPORAL_ADDRESS) return undefined;
  const source = await ensureTemporal();
  if (source.kind === 'address') {
    process.env.HOODCLOUD_TEST_TEMPORAL_ADDRESS = source.address;
    return undefined;
  }
  process.env.HOODCLOUD_TEMPORAL_BIN = source.path;
  const { address, dispose } = await startTestTemporal();
  process.env.HOODCLOUD_TEST_TEMPORAL_ADDRESS = address;
  return async () => {
    delete process.env.HOODCLOUD_TEST_TEMPORAL_ADDRESS;
    await dispose();
  };
}
