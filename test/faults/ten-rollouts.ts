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
import { keepFigures } from '../proofs/keep-figures.ts';
import { Fleet } from './fleet.ts';
import { judgeRollouts } from './judge-rollouts.ts';
import { OperatorApi } from './operator-api.ts';
import { Receivers } from './receivers.ts';
import { natsOutage, Strikes } from './strikes.ts';

const SIZES = { chains: 10, nodes: 5, upgradeMs: 20_000 };
const OUTAGE = { ms: 150_000, events: 100 };
const STREAM = 'FAULTS';
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

const countEvents = async (db: Database) => {
  const { count } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
};

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

/** Ten rollouts on ten chains at once, while everything that they need is killed and comes back. @throws when a rule is broken */
async function main(): Promise<void> {
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
    const plane = await ControlPlane.start({
      programs,
      databaseUrl: stores.databaseUrl,
      temporalAddress: stores.temporalAddress,
      env,
    });
    undo.unshift(() => plane.dispose());
    const { key } = await createApiKey(plane.db, { name: 'faults', createdBy: 'test' });
    const api = new OperatorApi(plane.url, key);
    const fleet = await Fleet.join(plane, api, SIZES);
    undo.unshift(() => fleet.stop());
    await until(
      'the channel',
      async () => (await plane.db.selectFrom('notification_channels').select('name').execute())[0],
    );
    const after = await untilPublished(plane.db);
    const receivers = Receivers.start({ folder, webhook, nats: { url: nats.server.url, stream: STREAM }, api, after });
    undo.unshift(() => receivers.kill());
    await run({ plane, stores, nats, fleet, receivers });
  } finally {
    for (const one of undo) await one();
  }
}

/** Waits until every event has its number. @returns the highest */
async function untilPublished(db: Database): Promise<number> {
  return until('every event to be numbered', async () => {
    const rows = await db.selectFrom('events').select('published_seq').execute();
    const seqs = rows.map((row) => row.published_seq);
    return seqs.every((seq) => seq !== null) ? Math.max(0, ...seqs.map(Number)) : null;
  });
}

async function run({
  plane,
  stores,
  nats,
  fleet,
  receivers,
}: {
  plane: ControlPlane;
  stores: OwnStores;
  nats: Awaited<ReturnType<typeof startTestNats>>;
  fleet: Fleet;
  receivers: Receivers;
}): Promise<void> {
  const began = Date.now();
  const ids = await fleet.startRollouts();
  const strikes = new Strikes(plane, stores);
  const open = async () => plane.db.selectFrom('rollouts').select('id').where('status', '<>', 'completed').execute();
  const [outage] = await Promise.all([
    natsOutage(nats.server, OUTAGE, () => countEvents(plane.db)),
    strikes.goOnUntil(async () => {
      const left = (await open()).length;
      console.log(`${left} rollouts run, ${await countEvents(plane.db)} events`);
      return left === 0;
    }),
  ]);
  const seconds = Math.round((Date.now() - began) / 1000);
  const judged = await judgeRollouts(plane.db, fleet, ids);
  await untilPublished(plane.db);
  await receivers.untilComplete(plane.db);
  const events = await receivers.compare(plane.db);
  const figures = { seconds, ...judged, struck: strikes.struck, outage, events };
  keepFigures('faults', figures);
  console.log(JSON.stringify(figures, null, 2));
}

await main();
