import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Bytes of randomness in a credential: far beyond guessing, so a plain hash of it may be stored (B3). */
const SECRET_BYTES = 32;

/** SHA-256 of a join token's or credential's text; only this is stored. */
export function hashAgentSecret(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}

/** A node's new credential, shown to the agent once. The prefix lets secret scanners find a leaked one. */
export function newAgentCredential(): { secret: string; hash: Buffer } {
  const secret = `hcagent_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  return { secret, hash: hashAgentSecret(secret) };
}

/** Compares two hashes in a time that does not depend on where they differ. */
export function sameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The secret of an `authorization: Bearer <secret>` value; null when it is of another form. */
export function bearerSecret(header: string | undefined): string | null {
  return /^Bearer (\S+)$/i.exec(header ?? '')?.[1] ?? null;
}
