import { createVerify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { SigningKey } from './public-key.ts';

/** The two forms of `cosign sign-blob --key … --bundle`: the older one, and the Sigstore bundle of today. */
interface CosignBundle {
  readonly base64Signature?: unknown;
  readonly messageSignature?: { readonly signature?: unknown };
}

/**
 * Checks a cosign bundle against a file by the public key alone: neither the transparency log nor a certificate is asked,
 * so that no host needs anything but its release server.
 * @returns why it doesn't count; null when it does
 */
export async function whyNotCosigned(
  path: string,
  bundleText: string,
  keys: readonly SigningKey[],
): Promise<string | null> {
  const signature = signatureOf(bundleText);
  if (signature === null) return 'its signature is no cosign bundle with a signature by a key';
  for (const { kind, key } of keys) {
    if (kind !== 'cosign') continue;
    const verifier = createVerify('SHA256');
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) verifier.update(chunk);
    if (verifier.verify(key, signature)) return null;
  }
  return 'none of the keys that count made the signature in its cosign bundle, or it is of another file';
}

function signatureOf(bundleText: string): Buffer | null {
  let bundle: CosignBundle | null;
  try {
    bundle = JSON.parse(bundleText) as CosignBundle | null;
  } catch {
    return null; // the caller's sentence says what was expected
  }
  const encoded = bundle?.messageSignature?.signature ?? bundle?.base64Signature;
  return typeof encoded === 'string' && encoded !== '' ? Buffer.from(encoded, 'base64') : null;
}
