import { createHmac } from 'node:crypto';

/**
 * The three headers of Standard Webhooks: the signature is HMAC-SHA256 over `id.timestamp.body`, so a receiver that checks
 * the timestamp too can't be made to take an old message again.
 * @param key the secret's bytes
 * @param timestamp seconds since 1970
 */
export function signatureHeaders(key: Buffer, id: string, timestamp: number, body: string): Record<string, string> {
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` };
}

/**
 * The bytes of a secret as Standard Webhooks writes it: `whsec_` and base64.
 * @returns null when it is no such secret, or not 24 to 64 bytes long
 */
export function webhookKey(secret: string): Buffer | null {
  const text = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim())?.[1];
  if (text === undefined) return null;
  const key = Buffer.from(text, 'base64');
  return key.length >= 24 && key.length <= 64 ? key : null;
}
