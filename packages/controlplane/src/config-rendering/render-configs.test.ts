import { afterAll, describe, expect, it, vi } from 'vitest';
import { GoTemplateRenderer } from './go-template-renderer.ts';
import { renderConfigs } from './render-configs.ts';

// starting the program takes seconds on a busy machine
vi.setConfig({ testTimeout: 60_000 });

const renderer = new GoTemplateRenderer(20_000);
afterAll(() => renderer.close());

const node = { id: '1', name: 'val1', node_type: 'validator', variables: { moniker: 'first', max_peers: '20' } };

function rolloutWith(text: string, overrides: Record<string, string> = {}) {
  const variables = { max_peers: '10', seeds: 'a,b' };
  return {
    config_changes: [{ path: '/etc/node/config.toml', template: 'config.toml.tmpl', text, variables, overrides }],
    chain_profile_id: 'testchain',
    binary_name: 'node',
    target_version: 'v2.0.0',
  };
}

async function contentOf(text: string, overrides?: Record<string, string>): Promise<string | undefined> {
  const [config] = await renderConfigs(renderer, rolloutWith(text, overrides), node);
  return config?.content.toString('utf8');
}

describe('renderConfigs', () => {
  it('fills in what is known of chain, node and rollout', async () => {
    const text = '{{ .node_name }} {{ .moniker }} {{ .seeds }} {{ .target_version }} {{ .chain_profile_id }}';
    expect(await contentOf(text)).toBe('val1 first a,b v2.0.0 testchain');
  });

  it("lets the node's own value win over the chain's, and the manifest's override over both (E2)", async () => {
    expect(await contentOf('{{ .max_peers }}')).toBe('20');
    expect(await contentOf('{{ .max_peers }}', { max_peers: '100' })).toBe('100');
  });

  it('gives path and checksum of the bytes', async () => {
    const [config] = await renderConfigs(renderer, rolloutWith('x'), node);
    expect(config).toMatchObject({
      path: '/etc/node/config.toml',
      checksum: 'sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881',
    });
  });

  it('refuses a template with a variable that nobody gives', async () => {
    await expect(contentOf('peers = "{{ .persistent_peers }}"')).rejects.toMatchObject({
      code: 'template',
      message: expect.stringMatching(/config\.toml\.tmpl:1:12: .*no entry for key "persistent_peers"/),
    });
  });
});
