import { createPublicKey, type KeyObject, verify } from 'node:crypto';

/** A public key of minisign: whose signatures count. */
export interface MinisignKey {
  /** As minisign prints it. */
  readonly id: string;
  readonly key: KeyObject;
}

const KEY_BYTES = 42;
const SIGNATURE_BYTES = 74;

/** Reads a key in base64, or a whole `.pub` file; null when it is none. */
export function minisignKey(text: string): MinisignKey | null {
  const bytes = Buffer.from(text.trim().split('\n').at(-1) ?? '', 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('latin1', 0, 2) !== 'Ed') return null;
  const x = bytes.subarray(10).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return { id: keyId(bytes.subarray(2, 10)), key };
}

function keyId(bytes: Buffer): string {
  return Buffer.from(bytes).reverse().toString('hex').toUpperCase();
}

/** Id of the key that a `.minisig` names as its own, as minisign prints it; it proves nothing without `whyNotMinisigned`. */
export function minisignSigner(signatureText: string): string {
  const [, encoded = ''] = signatureText.split(/\r?\n/);
  return keyId(Buffer.from(encoded, 'base64').subarray(2, 10));
}

/**
 * Checks a `.minisig`: the signature over a file's BLAKE2b-512 and the one over signature and trusted comment
 * (https://jedisct1.github.io/minisign, "Signature format").
 * @param digest BLAKE2b-512 of the signed file; asked for only when the signature's form and key are right
 * @returns why it doesn't count; null when it does
 */
export async function whyNotMinisigned(
  digest: () => Promise<Buffer> | Buffer,
  signatureText: string,
  keys: readonly MinisignKey[],
): Promise<string | null> {
  const [, encoded = '', trusted = '', encodedGlobal = ''] = signatureText.split(/\r?\n/);
  const bytes = Buffer.from(encoded, 'base64');
  const comment = /^trusted comment: (.*)$/.exec(trusted)?.[1];
  if (bytes.length !== SIGNATURE_BYTES || comment === undefined) return 'its signature is no minisign signature';
  const algorithm = bytes.toString('latin1', 0, 2);
  // the old form signs the whole file at once, which no host should have to hold in memory
  if (algorithm !== 'ED') return 'it was signed in the legacy way: sign it by minisign 0.10 or newer, without -l';
  const id = minisignSigner(signatureText);
  const key = keys.find((one) => one.id === id);
  if (key === undefined) return `it was signed by minisign key ${id}, which is none of those that count`;
  const signature = bytes.subarray(10);
  if (!verify(null, await digest(), key.key, signature)) return `minisign key ${id} signed another file`;
  const signed = Buffer.concat([signature, Buffer.from(comment)]);
  if (verify(null, signed, key.key, Buffer.from(encodedGlobal, 'base64'))) return null;
  return 'the trusted comment of its signature was changed';
}
