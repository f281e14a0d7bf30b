import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestSigner } from '@hoodcloud/testkit/manifest-signer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runWith } from '../testing/cli-run.ts';

const MANIFEST = `upgrade_id: v2
chain_profile_id: demo
node_type: validator
binary_name: noded
target_version: v2
target_url: http://releases.test/noded
target_checksum: sha256:${'a'.repeat(64)}
`;

let folder: string;
beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'lint-')), 'demo');
  await mkdir(folder);
});
afterAll(() => rm(join(folder, '..'), { recursive: true }));

async function lint(name: string, text: string) {
  const file = join(folder, name);
  await writeFile(file, text);
  return { file, ...(await runWith(() => null, 'manifest', 'lint', file)) };
}

it('passes a manifest that the control plane would take', async () => {
  const { code, out, file } = await lint('v2.yaml', MANIFEST);
  expect({ code, out }).toEqual({ code: 0, out: `✓ ${file}\n` });
});

it('names file, line and column of a misspelled field', async () => {
  const { code, out, file } = await lint('v2.yaml', `${MANIFEST}tarjet_member: bin/noded\n`);
  expect(code).toBe(1);
  expect(out).toContain(`✗ ${file}:8:1: unknown field "tarjet_member"`);
});

it('refuses a manifest where the control plane would not find it', async () => {
  const { code, out } = await lint('v3.yaml', MANIFEST);
  expect(code).toBe(1);
  expect(out).toContain('upgrade_id is "v2", the file is named "v3"');
});

it('refuses a manifest that none of the named keys signed', async () => {
  const { publicKey, sign } = manifestSigner();
  const file = join(folder, 'v2.yaml');
  await writeFile(file, MANIFEST);
  const run = () => runWith(() => null, 'manifest', 'lint', '--key', publicKey, '--', file);
  expect((await run()).out).toContain("v2.yaml.minisig can't be read: sign the manifest");
  await writeFile(`${file}.minisig`, sign(MANIFEST));
  expect(await run()).toMatchObject({ code: 0, out: `✓ ${file}\n` });
  await writeFile(file, `${MANIFEST}recovery_plan: none\n`);
  expect((await run()).out).toContain('signed another file');
});

it('prints the JSON Schema by which an editor judges a manifest', async () => {
  const { code, out } = await runWith(() => null, 'manifest', 'schema');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' });
});
