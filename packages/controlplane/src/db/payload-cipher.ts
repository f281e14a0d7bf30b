import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Seals what must not be read from a copy of the database: rendered configs may hold secrets (C12). */
export interface PayloadCipher {
  seal(plain: Buffer): Buffer;
  /** Opens what any configured key sealed, and what was stored before there was one. @throws UnknownPayloadKeyError */
  open(stored: Buffer): Buffer;
}

/** A stored payload was sealed by a key that this process does not have. */
export class UnknownPayloadKeyError extends Error {
  readonly code = 'unknown_payload_key';

  constructor() {
    super(
      'A stored payload was sealed by a key that is not in HOODCLOUD_PAYLOAD_KEYS: add the key it was sealed with.',
    );
  }
}

/** No payload begins with it by chance: a protobuf message never begins with a zero byte. */
const MAGIC = Buffer.from([0, 0x68, 0x63, 1]);
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = MAGIC.length + KEY_ID_BYTES + IV_BYTES + TAG_BYTES;

/**
 * AES-256-GCM with the first key; the others open what they sealed earlier, so that keys can be changed without a pause.
 * @param keys of 32 bytes each; none: payloads are stored as they are
 */
export function payloadCipher(keys: readonly Buffer[]): PayloadCipher {
  const [first] = keys;
  const byId = new Map(keys.map((key) => [keyId(key).toString('hex'), key]));
  return {
    seal: (plain) => (first ? seal(first, plain) : plain),
    open: (stored) => {
      if (!stored.subarray(0, MAGIC.length).equals(MAGIC)) return stored;
      const key = byId.get(stored.subarray(MAGIC.length, MAGIC.length + KEY_ID_BYTES).toString('hex'));
      if (!key) throw new UnknownPayloadKeyError();
      return unseal(key, stored);
    },
  };
}

/** Stores payloads as they are. */
export const PLAIN_PAYLOADS: PayloadCipher = payloadCipher([]);

function keyId(key: Buffer): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES);
}

function seal(key: Buffer, plain: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([MAGIC, keyId(key), iv, cipher.getAuthTag(), sealed]);
}

function unseal(key: Buffer, stored: Buffer): Buffer {
  const ivAt = MAGIC.length + KEY_ID_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, stored.subarray(ivAt, ivAt + IV_BYTES));
  decipher.setAuthTag(stored.subarray(ivAt + IV_BYTES, HEADER_BYTES));
  return Buffer.concat([decipher.update(stored.subarray(HEADER_BYTES)), decipher.final()]);
}
