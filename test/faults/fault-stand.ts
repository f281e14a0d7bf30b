import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import type { Database } from '@hoodcloud/controlplane/db/database';
import { freePort } from '@hoodcloud/controlplane/dev/child-server';
import { startTestNats } from '@hoodcloud/testkit/nats';
import { until } from '@hoodcloud/testkit/until';
import { ControlPlane } from '../e2e/stack/control-plane.ts';
import { bundlePrograms } from '../e2e/stack/programs.ts';
import { OwnStores } from '../e2e/stack/stores.ts';
import { Fleet, type FleetSizes } from './fleet.ts';
import { OperatorApi } from './operator-api.ts';
import { Receivers } from './receivers.ts';

const STREAM = 'FAULTS';
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

function channelsFile(folder: string, port: number): string {
  const channel = {
    name: 'receiver',
    type: 'webhook',
    url: `http://127.0.0.1:${port}/`,
    secret: { env: 'HOOK_SECRET' },
    events: 'all',
    allow_http: true,
    allow_private_addresses: true,
  };
  const file = join(folder, 'channels.yaml');
  writeFileSync(file, JSON.stringify({ channels: [channel] })); // JSON is YAML
  return file;
}

/** The production build with stores of its own that may be killed, a fleet, and three receivers of its events. */
export interface FaultStand {
  readonly plane: ControlPlane;
  readonly stores: OwnStores;
  readonly nats: Awaited<ReturnType<typeof startTestNats>>;
  readonly fleet: Fleet;
  readonly receivers: Receivers;
}

/** Sets everything up, lets `work` happen, and takes everything down again, whatever came of it. */
export async function withFaultStand<T>(sizes: FleetSizes, work: (stand: FaultStand) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-faults-'));
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const programs = await bundlePrograms();
    undo.unshift(() => programs.dispose());
    const stores = await OwnStores.start();
    undo.unshift(() => stores.dispose());
    const nats = await startTestNats();
    undo.unshift(() => nats.dispose());
    const hookPort = await freePort();
    const webhook = await Receivers.startWebhook(folder, hookPort, SECRET);
    undo.unshift(() => webhook.kill());
    const env = {
      HOODCLOUD_NATS_URL: nats.server.url,
      HOODCLOUD_NATS_STREAM: STREAM,
      HOODCLOUD_NOTIFICATIONS_FILE: channelsFile(folder, hookPort),
      HOOK_SECRET: SECRET,
      HOODCLOUD_API_REQUESTS_PER_MINUTE: '100000',
    };
    const { databaseUrl, temporalAddress } = stores;
    const plane = await ControlPlane.start({ programs, databaseUrl, temporalAddress, env });
    undo.unshift(() => plane.dispose());
    const { key } = await createApiKey(plane.db, { name: 'faults', createdBy: 'test' });
    const api = new OperatorApi(plane.url, key);
    const fleet = await Fleet.join(plane, api, sizes);
    undo.unshift(() => fleet.stop());
    await until(
      'the channel',
      async () => (await plane.db.selectFrom('notification_channels').select('name').execute())[0],
    );
    const after = await untilPublished(plane.db);
    const receivers = Receivers.start({ folder, webhook, nats: { url: nats.server.url, stream: STREAM }, api, after });
    undo.unshift(() => receivers.kill());
    return await work({ plane, stores, nats, fleet, receivers });
  } finally {
    for (const one of undo) await one();
  }
}

/** Waits until every event has its number. @returns the highest */
export async function untilPublished(db: Database): Promise<number> {
  return until('every event to be numbered', async () => {
    const rows = await db.selectFrom('events').select('published_seq').execute();
    const seqs = rows.map((row) => row.published_seq);
    return seqs.every((seq) => seq !== null) ? Math.max(0, ...seqs.map(Number)) : null;
  });
}
