import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface ManifestSigner {
  /** The public key in base64, as minisign prints it. */
  readonly publicKey: string;
  /** @returns what minisign would write into the `.minisig` of a file with this text */
  sign(text: string): string;
}

/** A publisher with a key of its own, in minisign's formats (https://jedisct1.github.io/minisign). */
export function manifestSigner(): ManifestSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const id = randomBytes(8);
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return {
    publicKey: Buffer.concat([Buffer.from('Ed'), id, raw]).toString('base64'),
    sign: (text) => {
      const signature = sign(null, createHash('blake2b512').update(text).digest(), privateKey);
      const whole = sign(null, Buffer.concat([signature, Buffer.from('a test')]), privateKey);
      const head = Buffer.concat([Buffer.from('ED'), id, signature]).toString('base64');
      return `untrusted comment: a test\n${head}\ntrusted comment: a test\n${whole.toString('base64')}\n`;
    },
  };
}
