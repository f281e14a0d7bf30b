import { createHash, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { keyId, type SigningKey } from './public-key.ts';

const SIGNATURE_BYTES = 74;

/**
 * Checks a `.minisig` against a file: the signature over the file's BLAKE2b-512 and the one over signature and trusted
 * comment (https://jedisct1.github.io/minisign, "Signature format").
 * @returns why it doesn't count; null when it does
 */
export async function whyNotMinisigned(
  path: string,
  signatureText: string,
  keys: readonly SigningKey[],
): Promise<string | null> {
  const [, encoded = '', trusted = '', encodedGlobal = ''] = signatureText.split(/\r?\n/);
  const bytes = Buffer.from(encoded, 'base64');
  const comment = /^trusted comment: (.*)$/.exec(trusted)?.[1];
  if (bytes.length !== SIGNATURE_BYTES || comment === undefined) return 'its signature is no minisign signature';
  const algorithm = bytes.toString('latin1', 0, 2);
  // the old form signs the whole file at once, which no host should have to hold in memory
  if (algorithm !== 'ED') return 'it was signed in the legacy way: sign it by minisign 0.10 or newer, without -l';
  const id = keyId(bytes.subarray(2, 10));
  const key = keys.find((one) => one.kind === 'minisign' && one.id === id);
  if (key === undefined) return `it was signed by minisign key ${id}, which is none of those that count`;
  const signature = bytes.subarray(10);
  const digest = await blake2b(path);
  if (!verify(null, digest, key.key, signature)) return `minisign key ${id} signed another file`;
  const signed = Buffer.concat([signature, Buffer.from(comment)]);
  if (verify(null, signed, key.key, Buffer.from(encodedGlobal, 'base64'))) return null;
  return 'the trusted comment of its signature was changed';
}

async function blake2b(path: string): Promise<Buffer> {
  const hash = createHash('blake2b512');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk);
  return hash.digest();
}
