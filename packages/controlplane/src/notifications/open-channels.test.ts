import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../config.ts';
import type { NotificationChannel, NotificationMessage } from './notification-message.ts';
import { openChannels } from './open-channels.ts';
import { HookReceiver } from './testing/hook-receiver.ts';
import { MailReceiver } from './testing/mail-receiver.ts';
import { pausedEvent } from './testing/paused-event.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const event = pausedEvent({
  seq: 41,
  reason: { code: 'paused_by_operator', sentence: 'Paused by <!channel> & friends', severity: 'warning', params: {} },
  actor: 'key:ops',
  data: { from: 'running', to: 'paused', direction: 'upgrade' },
});
const message: NotificationMessage = { kind: 'event', id: 'evt_41_1', event };
const summary: NotificationMessage = {
  kind: 'summary',
  id: 'evt_1_to_60',
  events: Array.from({ length: 60 }, (_, seq) => ({ ...event, seq, severity: seq === 59 ? 'critical' : 'info' })),
};

let folder: string;
let hook: HookReceiver;
let mail: MailReceiver;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-channels-'));
  [hook, mail] = await Promise.all([HookReceiver.start(), MailReceiver.start()]);
});
afterEach(async () => {
  await Promise.all([hook.stop(), mail.stop(), rm(folder, { recursive: true })]);
});

async function opened(channel: object, env: NodeJS.ProcessEnv = {}): Promise<NotificationChannel> {
  const file = join(folder, 'channels.yaml');
  await writeFile(file, JSON.stringify({ channels: [channel] }));
  const [first] = await openChannels(file, env);
  if (!first) throw new Error('the file names one channel');
  return first.channel;
}

const here = { allow_http: true, allow_private_addresses: true };
const webhook = () => ({ name: 'bot', type: 'webhook', url: hook.url, secret: { env: 'SECRET' }, ...here });
const slack = { name: 'ops', type: 'slack', url: { env: 'HOOK' }, ...here };
const email = () => ({
  name: 'duty',
  type: 'email',
  from: 'hoodcloud@example.org',
  to: ['one@example.org', 'two@example.org'],
  smtp: { host: '127.0.0.1', port: mail.port, tls: 'none' },
});

it('sends a webhook whose signature holds, with the event as NATS has it', async () => {
  await (await opened(webhook(), { SECRET })).send(message);
  const [{ headers, body } = { headers: {}, body: '' }] = hook.received;
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const signature = createHmac('sha256', Buffer.alloc(32, 7)).update(signed).digest('base64');
  expect(headers).toMatchObject({ 'webhook-id': 'evt_41_1', 'webhook-signature': `v1,${signature}` });
  expect(JSON.parse(body)).toEqual({
    type: 'rollout_paused',
    timestamp: '2026-01-01T08:14:03.250Z',
    data: { schema_version: 1, ...event },
  });
});

it('writes to Slack in words, and lets nobody be mentioned by what an event says', async () => {
  await (await opened(slack, { HOOK: hook.url })).send(message);
  expect(hook.bodies[0]?.text).toMatch(/^:warning: \*hoodcloud: testchain: rollout paused \(rollout 22222222\)\*\n/);
  expect(hook.bodies[0]?.text).toContain('Paused by &lt;!channel&gt; &amp; friends');
});

it('tells a flood in one text with the worst first and the rest counted', async () => {
  await (await opened(slack, { HOOK: hook.url })).send(summary);
  const text = hook.bodies[0]?.text ?? '';
  expect(text).toContain('60 events at once');
  expect(text.split('\n')[3]).toContain('[critical]');
  expect(text).toContain('… and 40 more');
});

it('mails everybody, urgent only what is critical', async () => {
  const channel = await opened(email());
  await channel.send(message);
  await channel.send({ ...message, event: { ...event, severity: 'critical' } });
  expect(mail.mails.map(({ to }) => to)).toEqual([email().to, email().to]);
  expect(mail.mails[0]?.text).toMatch(/^Subject: hoodcloud: testchain: rollout paused/m);
  expect(mail.mails[0]?.text).toContain('hoodctl rollout status 22222222-2222-4222-8222-222222222222');
  expect(mail.mails.map(({ text }) => /^Importance: high/im.test(text))).toEqual([false, true]);
});

it('tells a mail that is refused for good from a server that is busy', async () => {
  const channel = await opened(email());
  mail.answerToReceiver = '550 no such user';
  await expect(channel.send(message)).rejects.toMatchObject({ permanent: true });
  mail.answerToReceiver = '451 come back later';
  await expect(channel.send(message)).rejects.toMatchObject({ permanent: false });
});

it('refuses to mail in the clear unless the configuration says so', async () => {
  const { smtp, ...rest } = email();
  const channel = await opened({ ...rest, smtp: { ...smtp, tls: 'starttls' } });
  await expect(channel.send(message)).rejects.toMatchObject({ code: 'notification_not_delivered' });
  expect(mail.mails).toEqual([]);
});

describe('a file that is wrong is refused with', () => {
  it.each<[string, object, RegExp]>([
    ['a secret in it', { ...slack, url: 'https://hooks.test/T0/B0/x' }, /channels\.yaml:1:\d+: .*url.*env: NAME/],
    ['a secret that is not set', slack, /"ops": the environment variable HOOK is not set/],
    [
      'a secret file that is not there',
      { ...slack, url: { file: '/nowhere/hook' } },
      /"ops": the file \/nowhere\/hook/,
    ],
    ['a kind of event that is none', { ...slack, events: ['rollout_done'] }, /events/],
    ['a field that is none', { ...slack, severity: 'info' }, /unknown field "channels\.0\.severity"/],
  ])('%s', async (_, channel, complaint) => {
    await expect(opened(channel)).rejects.toThrow(complaint);
  });

  it('a webhook secret that is too short, without showing it', async () => {
    const error = await opened(webhook(), { SECRET: 'whsec_c2hvcnQ=' }).catch((reason: Error) => reason);
    expect(String(error)).toMatch(/whsec_ and base64 of 24 to 64 bytes/);
    expect(String(error)).not.toContain('c2hvcnQ');
  });

  it('its name, when it is not there', async () => {
    const opening = openChannels(join(folder, 'none.yaml'), {});
    await expect(opening).rejects.toThrow(/HOODCLOUD_NOTIFICATIONS_FILE can't be read: .*none\.yaml/);
    await expect(opening).rejects.toBeInstanceOf(ConfigError);
  });

  it('a name given twice', async () => {
    const file = join(folder, 'channels.yaml');
    await writeFile(file, JSON.stringify({ channels: [slack, slack] }));
    await expect(openChannels(file, { HOOK: hook.url })).rejects.toThrow(/two channels have this name/);
  });
});
