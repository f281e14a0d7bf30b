import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { freePorts } from '@hoodcloud/controlplane/dev/child-server';
import { natsProgram } from '@hoodcloud/controlplane/dev/nats-server';
import { appendEvent } from '@hoodcloud/controlplane/events/append-event';
import { progressEvent } from '@hoodcloud/controlplane/events/testing/progress-event';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { startTestNats, type TestNats } from '@hoodcloud/testkit/nats';
import { insertRollout } from '@hoodcloud/testkit/rows';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ReceivedEvent, readPrinted } from './receivers/print-event.ts';
import { roleProcess, TypeScriptProcess } from './role-process.ts';

const ROLLOUTS = 5;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const receiver = (name: string) => fileURLToPath(new URL(`./receivers/${name}.ts`, import.meta.url));

/** Three receivers in processes of their own, the two roles that events pass in theirs, and NATS, each of which may fail. */
describe.skipIf(natsProgram() === null)('events reach everybody', () => {
  let folder: string;
  let database: MigratedDatabase;
  let nats: TestNats;
  let rollouts: string[];
  let env: NodeJS.ProcessEnv;
  let api: TypeScriptProcess;
  let reconciler: TypeScriptProcess;
  let receivers: Readonly<Record<'nats' | 'sse' | 'webhook', TypeScriptProcess>>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hoodcloud-outage-'));
    [database, nats] = await Promise.all([createMigratedDatabase(), startTestNats()]);
    const chain = (index: number) => ({ chain_profile_id: `chain-${index}`, status: 'running' }) as const;
    rollouts = await Promise.all(
      Array.from({ length: ROLLOUTS }, (_, index) => insertRollout(database.db, chain(index))),
    );
    const [apiPort = 0, hookPort = 0] = await freePorts(2);
    env = environment(apiPort, hookPort);
    const { key } = await createApiKey(database.db, { name: 'receiver', createdBy: 'system:test' });
    receivers = {
      webhook: new TypeScriptProcess('webhook', receiver('webhook-receiver'), [String(hookPort), SECRET], { folder }),
      nats: new TypeScriptProcess('nats', receiver('nats-subscriber'), [nats.server.url, 'OUTAGE'], { folder }),
      sse: new TypeScriptProcess('sse', receiver('sse-client'), [`http://${env.HOODCLOUD_API_LISTEN}`, key], {
        folder,
      }),
    };
    [api, reconciler] = await Promise.all([
      roleProcess('api-1', 'api', { folder, env }),
      roleProcess('reconciler-1', 'reconciler', { folder, env }),
      receivers.webhook.printed('listens'),
    ]);
    await until('the channel', async () => (await database.pool.query('select 1 from notification_channels')).rowCount);
  });
  afterAll(async () => {
    await Promise.all([...Object.values(receivers), api, reconciler].map((one) => one.kill()));
    await nats.dispose();
    await database.dispose();
    rmSync(folder, { recursive: true });
  });

  function environment(apiPort: number, hookPort: number): NodeJS.ProcessEnv {
    const channel = {
      name: 'receiver',
      type: 'webhook',
      url: `http://127.0.0.1:${hookPort}/`,
      secret: { env: 'HOOK_SECRET' },
      events: 'all',
      allow_http: true,
      allow_private_addresses: true,
    };
    const channels = join(folder, 'channels.yaml');
    writeFileSync(channels, JSON.stringify({ channels: [channel] })); // JSON is YAML
    return {
      ...process.env,
      DATABASE_URL: database.url,
      HOODCLOUD_CONFIG_DIR: folder,
      HOODCLOUD_API_LISTEN: `127.0.0.1:${apiPort}`,
      HOODCLOUD_METRICS_LISTEN: '127.0.0.1:0',
      HOODCLOUD_NATS_URL: nats.server.url,
      HOODCLOUD_NATS_STREAM: 'OUTAGE',
      HOODCLOUD_NOTIFICATIONS_FILE: channels,
      HOOK_SECRET: SECRET,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    };
  }

  let written = 0;

  /** So many events of each rollout, the rollouts beside one another, so that their transactions commit out of order. */
  async function happen(each: number): Promise<void> {
    written += each * ROLLOUTS;
    await Promise.all(
      rollouts.map(async (rolloutId) => {
        for (let i = 0; i < each; i++) {
          await appendEvent(database.db, progressEvent(rolloutId, { succeeded: i, total: each }));
        }
      }),
    );
  }

  /** Of the rollouts; the receiver's own key is an event too. */
  const had = async (name: keyof typeof receivers) =>
    readPrinted(await receivers[name].log()).filter(({ rollout_id }) => rollouts.includes(rollout_id));
  const distinct = (events: readonly ReceivedEvent[]) => [
    ...new Map(events.map((event) => [event.id, event])).values(),
  ];

  async function everyEventAt(...names: (keyof typeof receivers)[]): Promise<void> {
    for (const name of names) {
      await until(`${written} events at ${name}`, async () => distinct(await had(name)).length >= written);
    }
  }

  it('though NATS is away while 150 are written, a reconciler is killed and the API started anew (C11, Must show 4)', async () => {
    await happen(5);
    await everyEventAt('nats', 'sse', 'webhook');
    await nats.server.kill();
    await happen(20);
    await everyEventAt('sse', 'webhook'); // NATS delays nobody else
    await reconciler.kill();
    await Promise.all([happen(10), api.stop()]);
    api = await roleProcess('api-2', 'api', { folder, env });
    reconciler = await roleProcess('reconciler-2', 'reconciler', { folder, env });
    expect(await had('nats')).toHaveLength(5 * ROLLOUTS);
    await nats.server.start();
    await happen(5);
    await everyEventAt('nats', 'sse', 'webhook');

    const { rows } = await database.pool.query<{ seq: number; rollout_id: string }>(
      'select published_seq as seq, rollout_id from events where rollout_id is not null order by rollout_id, id',
    );
    expect(rows).toHaveLength(200);
    const outbox = rollouts.map((id) => rows.filter((row) => row.rollout_id === id).map(({ seq }) => seq));
    const inOrderOf = (events: readonly ReceivedEvent[]) =>
      rollouts.map((id) => events.filter((event) => event.rollout_id === id).map(({ seq }) => seq));
    expect(inOrderOf(await had('nats'))).toEqual(outbox);
    expect(inOrderOf(await had('sse'))).toEqual(outbox);
    // a reconciler that was killed after a message was taken sends that one again, under its old id
    expect(inOrderOf(distinct(await had('webhook')))).toEqual(outbox);
    expect(await receivers.webhook.log()).not.toContain('forged');
  }, 300_000);
});
