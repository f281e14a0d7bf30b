import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { signatureHeaders, webhookKey } from './webhook-signature.ts';

// the example of the Standard Webhooks specification
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

it('signs the example of Standard Webhooks as its authors do', () => {
  const key = webhookKey(SECRET);
  if (!key) throw new Error('the example is a secret');
  const headers = signatureHeaders(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}');
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it('covers id, time and body, so that none can be changed', () => {
  const key = Buffer.alloc(32, 1);
  const sign = (id: string, time: number, body: string) => signatureHeaders(key, id, time, body)['webhook-signature'];
  const right = sign('a', 1, '{}');
  expect(right).toBe(`v1,${createHmac('sha256', key).update('a.1.{}').digest('base64')}`);
  expect(new Set([right, sign('b', 1, '{}'), sign('a', 2, '{}'), sign('a', 1, '{ }')]).size).toBe(4);
});

it.each(['secret', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${Buffer.alloc(65).toString('base64')}`])(
  'takes %s for no secret',
  (text) => {
    expect(webhookKey(text)).toBeNull();
  },
);
