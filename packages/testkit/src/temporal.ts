import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TemporalServer } from '@hoodcloud/controlplane/dev/temporal-server';

/** Where the vitest run's shared server is; test/set-up/temporal.ts sets it. */
const SHARED_ADDRESS = 'HOODCLOUD_TEST_TEMPORAL_ADDRESS';

export interface TestTemporal {
  server: TemporalServer;
  /** host:port */
  address: string;
  /** Ends the server and removes its files. */
  dispose(): Promise<void>;
}

/** A Temporal server of the caller's own, for tests that crash it; others take sharedTemporalAddress(). */
export async function startTestTemporal(): Promise<TestTemporal> {
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-temporal-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const server = await TemporalServer.start({ folder, durable: false });
    return { server, address: server.address, dispose: () => server.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * The real server that all files of this vitest run share (projects workflow and e2e). Give each test a task queue
 * and workflow ids of its own.
 */
export function sharedTemporalAddress(): string {
  const address = process.env[SHARED_ADDRESS];
  if (!address)
    throw new Error(
      `${SHARED_ADDRESS} is not set: run this test in a vitest project that has a server (docs/testing.md).`,
    );
  return address;
}
