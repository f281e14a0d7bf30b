import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NatsServer } from '@hoodcloud/controlplane/dev/nats-server';

export interface TestNats {
  server: NatsServer;
  /** Ends the server and removes its files. */
  dispose(): Promise<void>;
}

/** A NATS server with JetStream of the caller's own: `server.kill()`, `server.start()`. */
export async function startTestNats(): Promise<TestNats> {
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-nats-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const server = await NatsServer.start({ folder });
    return { server, dispose: () => server.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
