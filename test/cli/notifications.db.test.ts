import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runAgainst } from '@hoodcloud/cli/testing/cli-run';
import type { NotificationDeliveryView } from '@hoodcloud/contracts/http/notifications';
import { appendEvent } from '@hoodcloud/controlplane/events/append-event';
import { publishEvents } from '@hoodcloud/controlplane/events/event-relay';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { channelDispatch } from '@hoodcloud/controlplane/notifications/channel-dispatch';
import { channelRegistration } from '@hoodcloud/controlplane/notifications/channel-registration';
import { type OpenChannel, openChannels } from '@hoodcloud/controlplane/notifications/open-channels';
import { HookReceiver } from '@hoodcloud/controlplane/notifications/testing/hook-receiver';
import { ReconcilerRunner } from '@hoodcloud/controlplane/reconciler-runner';
import { insertRollout } from '@hoodcloud/testkit/rows';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, expect, it } from 'vitest';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

let api: ApiFixture;
let connection: readonly string[];
let receiver: HookReceiver;
let runner: ReconcilerRunner;
let logged: string;
beforeAll(async () => {
  api = await ApiFixture.create();
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' });
  connection = ['--url', url, '--api-key', api.key];
  receiver = await HookReceiver.start();
  const channels = await configured();
  logged = '';
  const note = (fields: object, message: string) => {
    logged += `${JSON.stringify(fields)} ${message}\n`;
  };
  const log = { info: note, warn: note, error: note };
  const { db, url: databaseUrl } = api.database;
  runner = new ReconcilerRunner({
    databaseUrl,
    log,
    reconcilers: [
      channelRegistration(db, channels),
      ...channels.map(({ config, channel }) => channelDispatch({ db, log }, config, channel)),
    ],
  });
  await runner.start();
  await until('both channels', async () => (await listed()).length === 2);
});
afterAll(async () => {
  await runner.stop();
  await receiver.stop();
  await api.dispose();
});

/** A webhook to the receiver, and one whose receiver nobody can reach. */
async function configured(): Promise<OpenChannel[]> {
  const here = { allow_http: true, allow_private_addresses: true, type: 'webhook', secret: { env: 'SECRET' } };
  const file = join(api.configDir, 'channels.yaml');
  const channels = [
    { ...here, name: 'bot', url: `${receiver.url}?token=hidden-in-the-address` },
    { ...here, name: 'gone', url: 'http://127.0.0.1:1/?token=hidden-in-the-address', max_attempts: 1 },
  ];
  await writeFile(file, JSON.stringify({ channels }));
  return openChannels(file, { SECRET });
}

const hoodctl = (...words: string[]) => runAgainst(fetch, ['notification', ...words, ...connection]);
const listed = async () => JSON.parse((await hoodctl('list', '--output', 'json')).out);
const letters = async (): Promise<NotificationDeliveryView[]> =>
  JSON.parse((await hoodctl('dead-letters', '--output', 'json')).out);

it('hoodctl notification test tells what the receiver answered', async () => {
  expect(await hoodctl('test', 'bot')).toMatchObject({ code: 0, out: 'The receiver of bot took the test message.\n' });
  expect(receiver.bodies).toMatchObject([{ type: 'test', data: { ordered_by: 'key:test' } }]);
  const { code, err } = await hoodctl('test', 'gone');
  expect(code).toBe(1);
  expect(err).toMatch(/gone: the hook was not reached: .*ECONNREFUSED/);
  expect(await hoodctl('test', 'nobody')).toMatchObject({ code: 1, err: expect.stringContaining('nobody') });
});

it('a channel that is down delays no other; what it gave up is listed, and sent once more by hand', async () => {
  const rolloutId = await insertRollout(api.database.db, { status: 'running' });
  await appendEvent(api.database.db, {
    kind: 'rollout_paused',
    subjectType: 'rollout',
    subjectId: rolloutId,
    rolloutId,
    actor: 'key:test',
  });
  await publishEvents(api.database.db);
  await until('the event', async () => receiver.bodies.some(({ type }) => type === 'rollout_paused'));
  const letter = await until('its dead letter', async () =>
    (await letters()).find(({ event_kind }) => event_kind === 'rollout_paused'),
  );
  expect(letter).toMatchObject({ channel: 'gone', event_kind: 'rollout_paused', rollout_id: rolloutId, attempts: 1 });
  const { code, err } = await hoodctl('retry', letter.id.slice(0, 8));
  expect([code, err]).toEqual([1, expect.stringContaining('the hook was not reached')]);
  expect((await hoodctl('retry', '--channel', 'gone')).out).toMatch(/^1 sent once more/);
  await until('the try', async () => (await letters()).some(({ id, attempts }) => id === letter.id && attempts === 3));
  expect((await hoodctl('retry')).code).toBe(2);
});

it('shows how channels do, and no address or secret anywhere', async () => {
  const { out } = await hoodctl('list');
  expect(out).toMatch(/bot +webhook +works/);
  expect(out).toMatch(/gone +webhook +failing since/);
  const answers = JSON.stringify([await listed(), await letters(), out, logged]);
  expect(answers).not.toContain('hidden-in-the-address');
  expect(answers).not.toContain(SECRET);
});
