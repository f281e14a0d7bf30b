import { createPublicKey, type KeyObject } from 'node:crypto';
import { type MinisignKey, minisignKey } from '@hoodcloud/contracts/signature/minisign';
import { RuntimeError } from '../runtime-adapter.ts';

/** Whose signatures count. */
export type SigningKey =
  | ({ readonly kind: 'minisign' } & MinisignKey)
  | { readonly kind: 'cosign'; readonly key: KeyObject };

/**
 * Reads a minisign key (base64, or a whole `.pub` file) or the PEM key of `cosign generate-key-pair`.
 * @throws RuntimeError `bad_public_key`
 */
export function readPublicKey(text: string): SigningKey {
  if (text.includes('-----BEGIN PUBLIC KEY-----')) return { kind: 'cosign', key: readPem(text) };
  const minisign = minisignKey(text);
  if (minisign !== null) return { kind: 'minisign', ...minisign };
  throw badKey(text, 'it is neither a minisign key (RW…) nor a PEM public key');
}

function readPem(text: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(text);
  } catch (error) {
    throw badKey(text, error instanceof Error ? error.message : String(error));
  }
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (namedCurve === 'prime256v1' || (key.asymmetricKeyType === 'rsa' && modulusLength >= 2048)) return key;
  throw badKey(text, 'only ECDSA on P-256, which cosign makes, and RSA of 2048 bits or more are checked here');
}

function badKey(text: string, why: string): RuntimeError {
  return new RuntimeError('bad_public_key', `the public key "${text.trim().slice(0, 60)}…" can't be used: ${why}`);
}
