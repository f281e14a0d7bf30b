import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { GoTemplateRenderer } from '../config-rendering/go-template-renderer.ts';
import { renderConfigs } from '../config-rendering/render-configs.ts';
import { ChainFiles } from './chain-files.ts';
import { FileReader } from './file-reader.ts';

const CONFIG_DIR = fileURLToPath(new URL('../../../../examples/chains', import.meta.url));
const chains = new ChainFiles(() => CONFIG_DIR);
const manifests = new FileReader(() => CONFIG_DIR);
const renderer = new GoTemplateRenderer(20_000);
afterAll(() => renderer.close());

const names = await chains.chains();

it('there are examples', () => expect(names).toContain('cometbft'));

it.each(names)('%s has a profile and a runtime file that can be read', async (chain) => {
  await expect(chains.profile(chain)).resolves.toBeDefined();
  await expect(chains.runtime(chain)).resolves.not.toBeNull();
});

it.each(names)('every manifest of %s can be read, for a binary and node type of the chain', async (chain) => {
  const { profile } = await chains.profile(chain);
  const files = await readdir(`${CONFIG_DIR}/upgrades/${chain}`);
  const stored = await Promise.all(files.map((file) => manifests.get(chain, file.replace(/\.yaml$/, ''))));
  for (const { manifest } of stored) {
    expect(profile.node_types).toContain(manifest.node_type);
    expect(profile.binaries.map(({ name }) => name)).toContain(manifest.binary_name);
  }
});

it('the example template renders with what a node brings along', { timeout: 30_000 }, async () => {
  const { manifest } = await manifests.get('cometbft', 'v0.38.21-more-peers');
  const { profile } = await chains.profile('cometbft');
  const config_changes = await Promise.all(
    manifest.config_changes.map(async ({ path, template, overrides = {} }) => {
      const text = await chains.template('cometbft', template);
      return { path, template, text, variables: profile.variables, overrides };
    }),
  );
  const rollout = { config_changes, chain_profile_id: 'cometbft', binary_name: 'cometbft', target_version: 'v0.38.21' };
  const node = { id: '1', name: 'val1', node_type: 'validator', variables: { persistent_peers: 'id@host:26656' } };
  const [config] = await renderConfigs(renderer, rollout, node);
  const text = config?.content.toString('utf8');
  expect(text).toContain('max_num_inbound_peers = 100\npex = false\n\n[consensus]');
  expect(text).toContain('seeds = ""\npersistent_peers = "id@host:26656"');
  await expect(renderConfigs(renderer, rollout, { ...node, variables: {} })).rejects.toThrow('persistent_peers');
});
