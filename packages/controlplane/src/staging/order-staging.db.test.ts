import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import { checksumOf, insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { ChainFiles } from '../manifests/chain-files.ts';
import { orderStaging } from './order-staging.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: process }\n');
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
});
afterAll(() => api.dispose());

it('a node that makes ready ahead is told what it downloads, and its checksum', async () => {
  const { db } = api.database;
  const id = await insertRollout(db, { status: 'running', targets_resolved_at: new Date(), stage: true });
  await insertRolloutNode(db, id, await insertNode(db), { previous_version: 'v1.0.0' });
  const ignored = () => undefined;
  const log = { info: ignored, warn: ignored, error: ignored };
  const sources = { chains: new ChainFiles(() => api.configDir), renderConfigs: async () => new Map() };
  expect(await orderStaging(db, sources, log, new Date())).toBe(1);
  const { payload } = await db.selectFrom('agent_commands').select('payload').executeTakeFirstOrThrow();
  const { artifact } = decodeUpgradePayload(payload);
  expect(artifact).toMatchObject({ url: 'https://example.org/v2.0.0', checksum: checksumOf('b') });
});
