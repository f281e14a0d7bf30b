import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runWith } from '../testing/cli-run.ts';

const SUM = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const at = (tag: string, name: string, query = '') => `https://releases.test/${tag}/${name}${query}`;

/** Written by hand in the registry's form; the defects are those that its real files have. */
const VERSIONS = {
  chain_name: 'demo',
  versions: [
    {
      name: 'v10',
      tag: 'v10.0.2',
      height: 15_816_200,
      binaries: {
        'linux/amd64': at('v10.0.2', 'demod-linux-amd64', `?checksum=sha256:${SUM}`),
        'linux/arm64': at('v10.0.2', 'demod-linux-arm64', `?checksum=sha256:${OTHER}`),
        'darwin/arm64': at('v10.0.2', 'demod-darwin-arm64', `?checksum=sha256:${SUM}demod-v10.0.1-linux-amd64`),
      },
    },
    {
      name: 'v28',
      tag: 'v28.0.0',
      recommended_version: '28.0.0',
      height: 1,
      binaries: { 'linux/amd64': at('v28.0.0', 'demod-linux-amd64', `?checksum=${SUM}`) },
    },
  ],
};

let folder: string;
let registry: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-'));
  registry = join(folder, 'versions.json');
  await writeFile(registry, JSON.stringify(VERSIONS));
});
afterAll(() => rm(folder, { recursive: true }));

const NAMES = ['--chain', 'demo', '--type', 'validator', '--binary', 'demod'];
const run = (name: string, ...more: string[]) =>
  runWith(() => null, 'import', 'cosmos-registry', '--chain-registry', registry, '--name', name, ...NAMES, ...more);

it('makes a manifest in which each value has its source, and tells what is wrong beside it', async () => {
  const { code, out, err } = await run('v10');
  expect(code).toBe(0);
  expect(out).toContain(`  # ${registry}: versions[0].binaries.linux/arm64
  linux/arm64:
    url: https://releases.test/v10.0.2/demod-linux-arm64
    checksum: sha256:${OTHER}
`);
  expect(out).toContain('# Announced for block height 15816200.');
  expect(out).not.toContain('darwin');
  expect(err).toContain(`! ${registry}: versions[0].binaries.darwin/arm64: "sha256:${SUM}demod-v10.0.1-linux-amd64"`);
});

it('writes the manifest as the linter wants it, and never over another file', async () => {
  const out = join(folder, 'v10.yaml');
  expect((await run('v10', '--out', out)).code).toBe(0);
  expect((await runWith(() => null, 'manifest', 'lint', out)).out).toContain('the folder is named');
  await writeFile(out, 'mine');
  const again = await run('v10', '--out', out);
  expect(again).toMatchObject({ code: 2, out: '' });
  expect(again.err).toContain('is there already and is not written over');
  expect(await readFile(out, 'utf8')).toBe('mine');
});

it('makes no manifest of a hash that does not say what it is', async () => {
  const { code, out, err } = await run('v28');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain('(checksum_without_algorithm)');
  expect(err).toContain('! ');
  expect(err).toContain('recommended_version is 28.0.0, the tag v28.0.0: the tag is taken. (version_spelled_twice)');
});

it('gives machines manifest and defects as one answer', async () => {
  const { code, out, err } = await run('v28', '--output', 'json');
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(JSON.parse(out)).toMatchObject({
    manifest: null,
    defects: [{ code: 'version_spelled_twice' }, { code: 'checksum_without_algorithm', stops: true }],
  });
});
