import type { ChainView, ManifestView } from '@hoodcloud/contracts/http/chains';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import { minisignKey } from '@hoodcloud/contracts/signature/minisign';
import { manifestSigner } from '@hoodcloud/testkit/manifest-signer';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';

const MANIFEST = `upgrade_id: v2
chain_profile_id: testchain
node_type: validator
binary_name: cometbft
target_version: v2.0.0
target_url: https://example.org/node
target_checksum: sha256:${'a'.repeat(64)}
state_compatibility: { migration_type: breaking }
recovery_plan: Restore the snapshot.
`;
const { publicKey, sign } = manifestSigner();

let api: ApiFixture;
beforeAll(async () => {
  const key = minisignKey(publicKey);
  if (!key) throw new Error('the signer has no key');
  api = await ApiFixture.create({ manifestKeys: [key] });
  await api.writeConfig('testchain/profile.yaml', `${TEST_PROFILE}  max_block_interval_seconds: 60\n`);
  await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: systemd }\n');
  await api.writeConfig('broken/profile.yaml', 'chain_profile_id: broken\nnode_types: []\n');
  await api.writeConfig('upgrades/testchain/v2.yaml', MANIFEST);
  await api.writeConfig('upgrades/testchain/v2.yaml.minisig', sign(MANIFEST));
  await api.writeConfig('upgrades/testchain/v3.yaml', MANIFEST);
  const { db } = api.database;
  await insertNode(db, { chain_profile_id: 'testchain' });
  await insertNode(db, { chain_profile_id: 'testchain', last_heartbeat_at: null });
  await insertNode(db, { chain_profile_id: 'unwritten' });
});
afterAll(() => api.dispose());

const chain = async (id: string) => (await api.call<ChainView>('GET', `/chains/${id}`)).body;

describe('chains', () => {
  it('are those of the config folder and those of the fleet', async () => {
    const { body } = await api.call<{ items: ChainView[] }>('GET', '/chains');
    expect(body.items.map(({ chain_profile_id }) => chain_profile_id)).toEqual(['broken', 'testchain', 'unwritten']);
  });

  it('say what the files say, and who of the fleet is online', async () => {
    expect(await chain('testchain')).toMatchObject({
      node_types: ['validator', 'full'],
      runtime_type: 'systemd',
      health: { health_wait_seconds: 7 },
      nodes: 2,
      nodes_online: 1,
      best_height: null,
      halted: false,
      active: null,
      manifests: 2,
      problems: [],
    });
  });

  it('whose files are wrong or absent are shown with the reason, not left out', async () => {
    expect((await chain('broken')).problems).toEqual(
      expect.arrayContaining([expect.stringMatching(/profile\.yaml:2:/)]),
    );
    expect((await chain('unwritten')).problems).toEqual([expect.stringContaining('every chain needs it')]);
  });

  it('stand halted when the height has not grown for longer than their normal pause (D4a)', async () => {
    const { db } = api.database;
    const grown = { chain_profile_id: 'testchain', best_height: 42, grew_at: new Date(Date.now() - 61_000) };
    await db.insertInto('chain_heights').values(grown).execute();
    expect(await chain('testchain')).toMatchObject({ best_height: 42, halted: true });
    await db.updateTable('chain_heights').set({ grew_at: new Date() }).execute();
    expect(await chain('testchain')).toMatchObject({ halted: false });
  });

  it('name what changes them now (C2)', async () => {
    const id = await insertRollout(api.database.db, { chain_profile_id: 'unwritten', status: 'running' });
    expect((await chain('unwritten')).active).toEqual({ type: 'rollout', id });
  });

  it('that are nowhere, or could be no folder, are refused', async () => {
    expect((await api.call<Problem>('GET', '/chains/nowhere')).status).toBe(404);
    expect((await api.call<Problem>('GET', '/chains/..%2Fetc/manifests')).status).toBe(404);
  });
});

describe('manifests of a chain', () => {
  it('are listed with hash, migration and signature; one that nobody signed says why it does not count', async () => {
    const { body } = await api.call<{ items: ManifestView[] }>('GET', '/chains/testchain/manifests');
    const [good, bad] = body.items;
    expect(good).toMatchObject({
      upgrade_id: 'v2',
      content_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      signature: 'verified',
      problems: [],
      upgrade: { target_version: 'v2.0.0', migration_type: 'breaking', recovery_plan: 'Restore the snapshot.' },
    });
    expect(good?.upgrade?.artifacts).toEqual({
      any: { url: 'https://example.org/node', checksum: `sha256:${'a'.repeat(64)}` },
    });
    expect(bad).toMatchObject({ upgrade_id: 'v3', signature: 'refused', upgrade: null });
    expect(bad?.problems.join()).toMatch(/v3\.yaml\.minisig is not there.*upgrade_id.*is "v2"/s);
  });
});
