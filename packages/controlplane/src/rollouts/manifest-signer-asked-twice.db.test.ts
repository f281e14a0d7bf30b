import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { type MinisignKey, minisignKey } from '@hoodcloud/contracts/signature/minisign';
import { decideNext } from '@hoodcloud/domain/decide-next';
import { manifestSigner } from '@hoodcloud/testkit/manifest-signer';
import { checksumOf, insertNode, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { ChainFiles } from '../manifests/chain-files.ts';
import { loadRolloutSnapshot } from './load-rollout-snapshot.ts';

const TARGET = {
  binary_name: 'cometbft',
  target_version: 'v2.0.0',
  target_url: 'https://github.com/org/demo/v2',
  target_checksum: checksumOf('b'),
};
const MANIFEST = JSON.stringify({ upgrade_id: 'v2', chain_profile_id: 'testchain', node_type: 'validator', ...TARGET });
const ORDER = { chain_profile_id: 'testchain', node_type: 'validator', strategy: 'rolling' };

const publisher = manifestSigner();
const another = manifestSigner();
const keyOf = ({ publicKey }: typeof publisher): MinisignKey => {
  const key = minisignKey(publicKey);
  if (key === null) throw new Error('the signer has no key');
  return key;
};

let api: ApiFixture;
let node: string;
beforeAll(async () => {
  api = await ApiFixture.create({ manifestKeys: [keyOf(publisher), keyOf(another)] });
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
  await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: process }\n');
  await api.writeConfig('upgrades/testchain/v2.yaml', MANIFEST);
  node = await insertNode(api.database.db);
});
beforeEach(async () => {
  await api.database.pool.query('truncate active_chains, rollouts cascade');
  await api.writeConfig('upgrades/testchain/v2.yaml.minisig', publisher.sign(MANIFEST));
});
afterAll(() => api.dispose());

async function created(order: object): Promise<string> {
  const { status, body } = await api.call<RolloutDetail>('POST', '/rollouts', { ...ORDER, ...order });
  expect(status).toBe(201);
  await insertRolloutNode(api.database.db, body.id, node);
  return body.id;
}

/** What would be done before the first node where these keys count by then. */
async function decided(id: string, ...keys: MinisignKey[]): Promise<string> {
  const snapshot = await loadRolloutSnapshot(
    api.database.db,
    id,
    new ChainFiles(() => api.configDir, keys),
    new Date(),
    'whole',
  );
  if (snapshot === null) throw new Error('there is no such rollout');
  const rollout = { ...snapshot.rollout, status: 'running' as const, targetsResolved: true };
  const decision = decideNext({ ...snapshot, rollout }, Date.now());
  return decision.kind === 'wait' ? decision.reasons.map(({ code }) => code).join() : decision.kind;
}

it('at creation: a manifest that no key signed which counts is refused', async () => {
  await api.writeConfig('upgrades/testchain/v2.yaml.minisig', manifestSigner().sign(MANIFEST));
  const { status, body } = await api.call<Problem>('POST', '/rollouts', { ...ORDER, upgrade_id: 'v2' });
  expect([status, body.code]).toEqual([422, 'manifest_signature']);
});

it('before the first node: a key that was removed since holds the rollout, another that still counts changes nothing', async () => {
  const id = await created({ upgrade_id: 'v2' });
  expect(await decided(id, keyOf(publisher), keyOf(another))).toBe('run');
  expect(await decided(id, keyOf(another))).toBe('manifest_signer_untrusted');
  expect(await decided(id)).toBe('run');
});

it('the key that signed what was read counts, not who has signed the file since', async () => {
  const id = await created({ upgrade_id: 'v2' });
  await api.writeConfig('upgrades/testchain/v2.yaml.minisig', another.sign(MANIFEST));
  expect(await decided(id, keyOf(another))).toBe('manifest_signer_untrusted');
  await api.database.db.updateTable('rollouts').set({ manifest_key: null }).execute();
  expect(await decided(id, keyOf(another))).toBe('manifest_signer_untrusted');
});
