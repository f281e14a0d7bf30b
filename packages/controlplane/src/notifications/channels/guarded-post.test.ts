import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DeliveryError } from '../notification-message.ts';
import { HookReceiver } from '../testing/hook-receiver.ts';
import { guardedPost, refusalOf } from './guarded-post.ts';

let receiver: HookReceiver;
beforeEach(async () => {
  receiver = await HookReceiver.start();
});
afterEach(() => receiver.stop());

const open = { allow_http: true, allow_private_addresses: true };
const closed = { allow_http: false, allow_private_addresses: false };

async function failureOf(sent: Promise<void>): Promise<DeliveryError> {
  const error = await sent.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DeliveryError);
  return error as DeliveryError;
}

it.each([
  ...[
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
  ],
  ...[
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
  ],
  '64:ff9b::a9fe:a9fe',
])('counts %s as inside', (address) => {
  expect(refusalOf(address)).toMatch(/allow_private_addresses/);
});

it.each(['1.1.1.1', '172.32.0.1', '192.169.0.1', '100.128.0.1', '2606:4700:4700::1111', '::ffff:1.1.1.1'])(
  'counts %s as outside',
  (address) => {
    expect(refusalOf(address)).toBeNull();
  },
);

describe('a hook that its configuration does not open', () => {
  it('is not called without TLS', async () => {
    const { message } = await failureOf(
      guardedPost({ url: receiver.url, ...closed, allow_private_addresses: true }, '{}', {}),
    );
    expect(message).toMatch(/without TLS.*allow_http/);
    expect(receiver.received).toEqual([]);
  });

  it('is not called inside our network, by address or by a name that leads there', async () => {
    for (const url of [receiver.url, receiver.url.replace('127.0.0.1', 'localhost'), 'http://[::1]:1/']) {
      const { message } = await failureOf(guardedPost({ url, ...closed, allow_http: true }, '{}', {}));
      expect(message).toMatch(/inside a private network/);
    }
    expect(receiver.received).toEqual([]);
  });

  it('is not led elsewhere by a redirect', async () => {
    const inner = await HookReceiver.start();
    receiver.answer = () => ({ status: 307, headers: { location: inner.url } });
    const { message } = await failureOf(guardedPost({ url: receiver.url, ...open }, '{}', {}));
    expect(message).toMatch(/307.*redirect/);
    expect(inner.received).toEqual([]);
    await inner.stop();
  });
});

it('is done with any 2xx', async () => {
  receiver.answer = () => ({ status: 202 });
  await guardedPost({ url: receiver.url, ...open }, '{"a":1}', { 'x-more': 'yes' });
  expect(receiver.received).toMatchObject([
    { body: '{"a":1}', headers: { 'x-more': 'yes', 'user-agent': 'hoodcloud' } },
  ]);
});

it.each([
  [400, true],
  [410, true],
  [422, true],
  [401, false],
  [404, false],
  [408, false],
  [429, false],
  [500, false],
  [503, false],
])('%s is final: %s', async (status, permanent) => {
  receiver.answer = () => ({ status, headers: { 'retry-after': '7' }, text: 'why it is so' });
  const error = await failureOf(guardedPost({ url: receiver.url, ...open }, '{}', {}));
  expect(error).toMatchObject({ permanent, retryAfterMs: 7000 });
  expect(error.message).toContain(`${status}: why it is so`);
});

it('tells that nobody answered, without the address', async () => {
  await receiver.stop();
  const { message, permanent } = await failureOf(
    guardedPost({ url: `${receiver.url}?token=geheim`, ...open }, '{}', {}),
  );
  expect(permanent).toBe(false);
  expect(message).not.toContain('geheim');
});
