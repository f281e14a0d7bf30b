import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { whyNotMinisigned } from '@hoodcloud/contracts/signature/minisign';
import type { SigningKey } from './public-key.ts';

/**
 * Checks a `.minisig` against a file of any size.
 * @returns why it doesn't count; null when it does
 */
export async function whyFileNotMinisigned(
  path: string,
  signatureText: string,
  keys: readonly SigningKey[],
): Promise<string | null> {
  const minisign = keys.filter((key) => key.kind === 'minisign');
  return whyNotMinisigned(() => blake2b(path), signatureText, minisign);
}

async function blake2b(path: string): Promise<Buffer> {
  const hash = createHash('blake2b512');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk);
  return hash.digest();
}
