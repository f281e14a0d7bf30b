import { RuntimeError, type WantedArtifact } from '../runtime-adapter.ts';
import { whyNotCosigned } from './cosign-bundle.ts';
import { whyFileNotMinisigned } from './minisign.ts';
import { readPublicKey, type SigningKey } from './public-key.ts';

/** Whose signature an artifact needs, and who says so, for messages. */
export interface SignatureDemand {
  readonly keys: readonly SigningKey[];
  readonly by: string;
}

/**
 * The keys of which one must have signed; null when nobody asks. Keys in the agent's own file win over the chain's: who
 * may write the chain's files must not be able to name another publisher to this host.
 * @throws RuntimeError `bad_public_key`, and `signature_missing` when nobody could ever fulfil the demand
 */
export function signatureDemand(
  { signedBy }: WantedArtifact,
  pinned: readonly string[] | undefined,
): SignatureDemand | null {
  const keys = pinned ?? signedBy;
  if (keys === undefined) return null;
  const by = pinned === undefined ? "the chain's runtime.yaml" : "the agent's own configuration";
  if (keys.length === 0) {
    throw new RuntimeError(
      'signature_missing',
      `${by} demands a signature and names no public key: name the publisher's`,
    );
  }
  return { keys: keys.map(readPublicKey), by };
}

/** @throws RuntimeError `signature_missing` before anything is downloaded */
export function requireSigned(
  artifact: WantedArtifact,
  { by }: SignatureDemand,
): NonNullable<WantedArtifact['signature']> {
  if (artifact.signature !== undefined) return artifact.signature;
  throw new RuntimeError(
    'signature_missing',
    `${artifact.url} comes without a signature, and ${by} demands one: say in the manifest where it is`,
  );
}

/**
 * Checks the downloaded file, before it gets a name under which it could be installed.
 * @throws RuntimeError `signature_invalid`
 */
export async function requireValidSignature(
  path: string,
  url: string,
  signature: { readonly format: 'minisign' | 'cosign_bundle'; readonly content: string },
  { keys, by }: SignatureDemand,
): Promise<void> {
  const check = signature.format === 'minisign' ? whyFileNotMinisigned : whyNotCosigned;
  const why = await check(path, signature.content, keys);
  if (why === null) return;
  throw new RuntimeError('signature_invalid', `${url} is refused, as ${by} demands a signature: ${why}`);
}
