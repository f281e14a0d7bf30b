import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { PLAIN_PAYLOADS, payloadCipher } from './payload-cipher.ts';

const [old, current] = [randomBytes(32), randomBytes(32)];
const secret = Buffer.from('\n\tpassword = "s3cret"');

it('stores nothing readable and gives it back (C12)', () => {
  const cipher = payloadCipher([current]);
  const stored = cipher.seal(secret);
  expect(stored.includes('s3cret')).toBe(false);
  expect(cipher.open(stored)).toEqual(secret);
});

it('seals the same text differently each time', () => {
  const cipher = payloadCipher([current]);
  expect(cipher.seal(secret)).not.toEqual(cipher.seal(secret));
});

it('opens what an earlier key sealed, and what was stored before there was a key', () => {
  const cipher = payloadCipher([current, old]);
  expect(cipher.open(payloadCipher([old]).seal(secret))).toEqual(secret);
  expect(cipher.open(PLAIN_PAYLOADS.seal(secret))).toEqual(secret);
});

it('says that a key is missing, and notices a changed byte', () => {
  const stored = payloadCipher([old]).seal(secret);
  expect(() => payloadCipher([current]).open(stored)).toThrow('HOODCLOUD_PAYLOAD_KEYS');
  expect(() => PLAIN_PAYLOADS.open(stored)).toThrow('HOODCLOUD_PAYLOAD_KEYS');
  const last = stored.length - 1;
  stored[last] = (stored[last] ?? 0) ^ 1;
  expect(() => payloadCipher([old]).open(stored)).toThrow();
});
