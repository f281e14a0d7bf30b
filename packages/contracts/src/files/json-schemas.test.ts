import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { fileJsonSchema, SCHEMA_NAMES } from './json-schemas.ts';
import { upgradeManifestSchema } from './upgrade-manifest.ts';

const example = (path: string) =>
  parse(readFileSync(new URL(`../../../../examples/chains/${path}`, import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, formats: { uri: true, 'date-time': true } });
const validate = (name: (typeof SCHEMA_NAMES)[number]) => ajv.compile(fileJsonSchema(name));

it('each is a schema of JSON Schema 2020-12, and the examples fit theirs', () => {
  for (const name of SCHEMA_NAMES) validate(name);
  expect(validate('chain-profile')(example('cometbft/profile.yaml'))).toBe(true);
  expect(validate('chain-runtime')(example('cometbft/runtime.yaml'))).toBe(true);
  expect(validate('upgrade-manifest')(example('upgrades/cometbft/v1.0.1.yaml'))).toBe(true);
});

const GOOD = {
  upgrade_id: 'v2',
  chain_profile_id: 'demo',
  node_type: 'validator',
  binary_name: 'noded',
  target_version: 'v2',
  target_url: 'http://releases.test/noded',
  target_checksum: `sha256:${'a'.repeat(64)}`,
};
const { target_url: url, target_checksum: checksum, ...without } = GOOD;
const artifacts = { 'linux/amd64': { url, checksum } };

it.each([
  ['a whole one', GOOD],
  ['one for several platforms', { ...without, artifacts }],
  ['a misspelled field', { ...GOOD, tarjet_member: 'bin/noded' }],
  ['no checksum', { ...without, target_url: url }],
  ['neither an address nor artifacts', without],
  ['both an address and artifacts', { ...GOOD, artifacts }],
  ['a member for all platforms beside artifacts', { ...without, artifacts, target_member: 'bin/noded' }],
  ['a checksum without its kind', { ...GOOD, target_checksum: 'a'.repeat(64) }],
  ['a config with a relative path', { ...GOOD, config_changes: [{ path: 'etc/x', template: 'x.tmpl' }] }],
  ['an id that leads out of its folder', { ...GOOD, upgrade_id: '../v2' }],
  ['an unknown kind of migration', { ...GOOD, state_compatibility: { migration_type: 'big' } }],
])('of a manifest with %s both the JSON Schema and the control plane say the same', (_, manifest) => {
  expect(validate('upgrade-manifest')(manifest)).toBe(upgradeManifestSchema.safeParse(manifest).success);
});
