import { createHash, createSign, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WantedArtifact } from '../runtime-adapter.ts';
import { readPublicKey } from './public-key.ts';
import { requireSigned, requireValidSignature, signatureDemand } from './require-signature.ts';

// made by minisign 0.11
const RELEASE = 'the binary of a release\n';
const MINISIGN_KEY = 'RWRhYowm5jyiiT+CpyuEPLfWtqkG1Kz2c1VGrCatDQqbm0PUghGa+iUc';
const MINISIG = `untrusted comment: signature of a test
RURhYowm5jyiic9CaUfcaBkSXWvpIzeVvJwK+xQZuKh9q9DWHa+3uIOsMuS8rFkkPGz0YM1FrOGsA3797VICZz2VaZN51Lzn7wM=
trusted comment: release v2
3vanf4FkUkFuclVCvYE5J1j/o2QyTFaHTopjK++Wl7iMJFmozYx5g9YIcZF47GdajmH3mcqaXNvqpMUdZVyPAw==
`;
const LEGACY = `untrusted comment: signature from minisign secret key
RWRhYowm5jyiiUlA54ubi1/xDLpbmUFL6Nr0PM96imwD4klsDbp3hM7zECrcF/0Vb9ciUf6jK+xyMgUfnVSJ8iYOCQuaPu9DEQA=
trusted comment: legacy
mIFL7gbP1C62FcuJYnLQKOtUHh4RHcHcuc5+kH0F75ht2QZ5Jb89TlW+JW9FKaldOs+hz0EvsFKelwXQhiKXBQ==
`;

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-signature-'));
  path = join(folder, 'node');
  await writeFile(path, RELEASE);
});
afterEach(() => rm(folder, { recursive: true }));

const URL = 'https://releases.test/node';
const artifact = (changes: Partial<WantedArtifact> = {}): WantedArtifact => ({
  name: 'node',
  url: URL,
  checksum: `sha256:${'a'.repeat(64)}`,
  member: null,
  ...changes,
});
const check = (format: 'minisign' | 'cosign_bundle', content: string, ...keys: string[]) => {
  const demand = signatureDemand(artifact({ signedBy: keys }), undefined);
  if (demand === null) throw new Error('nobody demands a signature');
  return requireValidSignature(path, URL, { format, content }, demand);
};
const refused = (why: RegExp) => ({ code: 'signature_invalid', message: expect.stringMatching(why) });

describe('minisign', () => {
  it('takes a signature of the tool itself, by a key as it prints it or as its file', async () => {
    await check('minisign', MINISIG, MINISIGN_KEY);
    await check('minisign', MINISIG, `untrusted comment: minisign public key 89A23CE6268C6261\n${MINISIGN_KEY}\n`);
    await check('minisign', MINISIG.replaceAll('\n', '\r\n'), otherMinisignKey().text, MINISIGN_KEY);
  });

  it.each([
    ['of another file', MINISIG, /key 89A23CE6268C6261 signed another file/, 'other'],
    [
      'whose trusted comment was changed',
      MINISIG.replace('release v2', 'release v3'),
      /trusted comment .* was changed/,
    ],
    ['that is cut', MINISIG.slice(0, 100), /no minisign signature/],
    ['that is a web page', '<html>', /no minisign signature/],
    ['of the legacy kind', LEGACY, /legacy way: sign it by minisign 0\.10 or newer/],
  ])('refuses a signature %s', async (_, content, why, file = RELEASE) => {
    await writeFile(path, file);
    await expect(check('minisign', content, MINISIGN_KEY)).rejects.toMatchObject(refused(why));
  });

  it('refuses a key that nobody named, and one that only claims the number of a named one', async () => {
    const { text, signed } = otherMinisignKey();
    await expect(check('minisign', MINISIG, text)).rejects.toMatchObject(refused(/none of those that count/));
    await expect(check('minisign', signed, MINISIGN_KEY)).rejects.toMatchObject(refused(/signed another file/));
  });
});

/** A key of somebody else, with the key number of the known one in its signatures. */
function otherMinisignKey(): { text: string; signed: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const known = Buffer.from(MINISIGN_KEY, 'base64').subarray(2, 10);
  const signature = sign(null, createHash('blake2b512').update(RELEASE).digest(), privateKey);
  const global = sign(null, Buffer.concat([signature, Buffer.from('x')]), privateKey);
  const body = Buffer.concat([Buffer.from('ED'), known, signature]).toString('base64');
  return {
    text: Buffer.concat([Buffer.from('Ed12345678'), raw]).toString('base64'),
    signed: `untrusted comment: x\n${body}\ntrusted comment: x\n${global.toString('base64')}\n`,
  };
}

describe('cosign', () => {
  const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const signature = () => createSign('SHA256').update(RELEASE).sign(privateKey).toString('base64');
  /** As cosign 3 writes it for a key pair. */
  const bundle = (content = signature()) =>
    JSON.stringify({
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: { publicKey: { hint: 'aGludA==' }, tlogEntries: [] },
      messageSignature: { messageDigest: { algorithm: 'SHA2_256', digest: 'AA==' }, signature: content },
    });

  it('takes a bundle of today and of cosign 2, by the key alone', async () => {
    await check('cosign_bundle', bundle(), pem(publicKey));
    await check('cosign_bundle', JSON.stringify({ base64Signature: signature() }), MINISIGN_KEY, pem(publicKey));
  });

  it('takes the RSA key of a key service', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const made = createSign('SHA256').update(RELEASE).sign(rsa.privateKey).toString('base64');
    await check('cosign_bundle', bundle(made), pem(rsa.publicKey));
  });

  it.each([
    ['of another file', () => bundle(), /another file/, 'other'],
    ['that attests something instead of signing it', () => JSON.stringify({ dsseEnvelope: {} }), /no cosign bundle/],
    ['that is no JSON', () => 'x', /no cosign bundle/],
    ['that is null', () => 'null', /no cosign bundle/],
    ['that is empty', () => bundle(''), /no cosign bundle/],
  ])('refuses a bundle %s', async (_, content, why, file = RELEASE) => {
    await writeFile(path, file);
    await expect(check('cosign_bundle', content(), pem(publicKey))).rejects.toMatchObject(refused(why));
  });

  it('refuses another key', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    await expect(check('cosign_bundle', bundle(), pem(other.publicKey))).rejects.toMatchObject(
      refused(/none of the keys/),
    );
    await expect(check('cosign_bundle', bundle(), MINISIGN_KEY)).rejects.toMatchObject(refused(/none of the keys/));
  });

  it.each([
    ['a weak RSA key', () => pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey)],
    ['another curve', () => pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey)],
    ['a damaged key', () => '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'],
    ['a word', () => 'latest'],
    ['a private key of minisign', () => `RWRT${MINISIGN_KEY}`],
  ])('says that %s is no key to trust', (_, text) => {
    expect(() => readPublicKey(text())).toThrowError(expect.objectContaining({ code: 'bad_public_key' }));
  });
});

describe('the demand', () => {
  it("is the agent's own before the chain's, which can't name another publisher to this host", () => {
    const other = otherMinisignKey().text;
    expect(signatureDemand(artifact({ signedBy: [other] }), [MINISIGN_KEY])?.keys).toMatchObject([
      { id: '89A23CE6268C6261' },
    ]);
    expect(signatureDemand(artifact({ signedBy: [other] }), undefined)?.by).toContain('runtime.yaml');
    expect(signatureDemand(artifact(), [MINISIGN_KEY])?.by).toContain("agent's own");
    expect(signatureDemand(artifact(), undefined)).toBeNull();
  });

  it('is not fulfilled by nothing: no keys, no signature', () => {
    expect(() => signatureDemand(artifact({ signedBy: [] }), undefined)).toThrow(/names no public key/);
    const demand = { keys: [readPublicKey(MINISIGN_KEY)], by: 'x' };
    expect(() => requireSigned(artifact(), demand)).toThrow(/comes without a signature/);
  });
});
