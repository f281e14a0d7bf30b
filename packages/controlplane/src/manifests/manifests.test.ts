import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FileFormatError } from '@hoodcloud/contracts/files/yaml-file';
import { minisignKey } from '@hoodcloud/contracts/signature/minisign';
import { manifestSigner } from '@hoodcloud/testkit/manifest-signer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChainFiles } from './chain-files.ts';
import { FileReader } from './file-reader.ts';

const MANIFEST = `upgrade_id: v2
chain_profile_id: testchain
node_type: validator
binary_name: node
target_version: v2.0.0
target_url: https://example.org/node
target_checksum: sha256:${'a'.repeat(64)}
`;
const PROFILE = `chain_profile_id: testchain
node_types: [validator]
binaries:
  - name: node
health:
  healthy_expression: metrics.height > 0
  synced_expression: metrics.syncing == 0
`;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hoodcloud-config-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, file)), { recursive: true });
  await writeFile(join(dir, file), text);
}

/** Problems of reading the manifest v2 with this text. */
async function problemsOf(text: string): Promise<readonly string[]> {
  await write('upgrades/testchain/v2.yaml', text);
  const error = await new FileReader(() => dir).get('testchain', 'v2').catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(FileFormatError);
  return (error as FileFormatError).problems;
}

describe('FileReader', () => {
  it('hashes the raw bytes, so that a comment changes the hash (E3)', async () => {
    await write('upgrades/testchain/v2.yaml', MANIFEST);
    const reader = new FileReader(() => dir);
    const { manifest, contentHash } = await reader.get('testchain', 'v2');
    expect(manifest).toMatchObject({ target_version: 'v2.0.0', drift: 'fail', config_changes: [] });
    expect(await reader.contentHash('testchain', 'v2')).toBe(contentHash);
    await write('upgrades/testchain/v2.yaml', `${MANIFEST}# a comment\n`);
    expect(await reader.contentHash('testchain', 'v2')).not.toBe(contentHash);
  });

  it('asks for the config folder at each call, since a sync may move it', async () => {
    await write('new/upgrades/testchain/v2.yaml', MANIFEST);
    let current = join(dir, 'old');
    const reader = new FileReader(() => current);
    await expect(reader.get('testchain', 'v2')).rejects.toMatchObject({ code: 'config_file_not_found' });
    current = join(dir, 'new');
    await expect(reader.get('testchain', 'v2')).resolves.toBeDefined();
  });

  it('is an error while a sync has written half of it, and read whole the next time (field-case 132)', async () => {
    await write('upgrades/testchain/v2.yaml', MANIFEST.slice(0, MANIFEST.indexOf('target_url') + 4));
    const reader = new FileReader(() => dir);
    await expect(reader.get('testchain', 'v2')).rejects.toThrow(FileFormatError);
    await write('upgrades/testchain/v2.yaml', MANIFEST);
    expect((await reader.get('testchain', 'v2')).manifest.target_version).toBe('v2.0.0');
  });

  it('takes only what a named key signed, when signatures are demanded', async () => {
    const { publicKey, sign } = manifestSigner();
    const key = minisignKey(publicKey);
    const reader = new FileReader(() => dir, key ? [key] : []);
    const file = 'upgrades/testchain/v2.yaml';
    await write(file, MANIFEST);
    const refused = (why: RegExp) => ({ code: 'manifest_signature', message: expect.stringMatching(why) });
    await expect(reader.get('testchain', 'v2')).rejects.toMatchObject(refused(/v2\.yaml\.minisig is not there/));
    await write(`${file}.minisig`, manifestSigner().sign(MANIFEST));
    await expect(reader.get('testchain', 'v2')).rejects.toMatchObject(refused(/none of those that count/));
    await write(`${file}.minisig`, sign(MANIFEST));
    expect((await reader.get('testchain', 'v2')).manifest.upgrade_id).toBe('v2');
    await write(file, MANIFEST.replace('example.org', 'example.com'));
    await expect(reader.get('testchain', 'v2')).rejects.toMatchObject(refused(/signed another file/));
    expect(await reader.list('testchain')).toEqual([]);
  });

  it('lists what can be read', async () => {
    await write('upgrades/testchain/v2.yaml', MANIFEST);
    await write('upgrades/testchain/broken.yaml', 'upgrade_id: [');
    await write('upgrades/testchain/README.md', '');
    const found = await new FileReader(() => dir).list('testchain');
    expect(found.map(({ manifest }) => manifest.upgrade_id)).toEqual(['v2']);
  });

  it.each(['../secret', 'a/b', '', '.hidden'])('reads nothing outside its folder: upgrade_id "%s"', async (id) => {
    await expect(new FileReader(() => dir).get('testchain', id)).rejects.toMatchObject({ code: 'unsafe_name' });
  });

  it('names file, line and column of a typo in a field name', async () => {
    const problems = await problemsOf(MANIFEST.replace('target_url', 'targt_url'));
    expect(problems).toContain('upgrades/testchain/v2.yaml:6:1: unknown field "targt_url"');
  });

  it('names the field inside a list', async () => {
    const problems = await problemsOf(`${MANIFEST}config_changes:\n  - path: etc/config.toml\n    template: c.tmpl\n`);
    expect(problems).toEqual(['upgrades/testchain/v2.yaml:9:11: "config_changes.0.path": must be an absolute path']);
  });

  it.each([
    [
      'a mutable checksum',
      MANIFEST.replace(/sha256:a+/, 'latest'),
      'v2.yaml:7:18: "target_checksum": must be "sha256:"',
    ],
    [
      'an id of another file',
      MANIFEST.replace('upgrade_id: v2', 'upgrade_id: v1'),
      'v2.yaml:1:13: "upgrade_id": is "v1"',
    ],
    ['a key twice', `${MANIFEST}upgrade_id: v2\n`, 'v2.yaml:8:1: Map keys must be unique'],
    ['text that is no YAML', 'upgrade_id: [', 'v2.yaml:1:14:'],
  ])('refuses %s', async (_, text, expected) => {
    expect((await problemsOf(text)).join('\n')).toContain(expected);
  });
});

describe('ChainFiles', () => {
  it('reads a profile anew when the file has changed', async () => {
    const files = new ChainFiles(() => dir);
    await write('testchain/profile.yaml', PROFILE);
    expect((await files.profile('testchain')).healthy.metricNames).toEqual(['height']);
    await write('testchain/profile.yaml', PROFILE.replace('metrics.height', 'metrics.block_height'));
    expect((await files.profile('testchain')).healthy.metricNames).toEqual(['block_height']);
    expect(await files.chains()).toEqual(['testchain']);
  });

  it('names the line of an expression that is no CEL', async () => {
    await write('testchain/profile.yaml', PROFILE.replace('metrics.syncing == 0', 'metrics.syncing =='));
    await expect(new ChainFiles(() => dir).profile('testchain')).rejects.toMatchObject({
      problems: [
        expect.stringMatching(/^testchain\/profile\.yaml:7:22: "health\.synced_expression": not a CEL expression/),
      ],
    });
  });

  it('says which file a chain lacks', async () => {
    const files = new ChainFiles(() => dir);
    await expect(files.profile('testchain')).rejects.toThrow('testchain/profile.yaml is not in the config folder');
    expect(await files.runtime('testchain')).toBeNull();
  });
});
