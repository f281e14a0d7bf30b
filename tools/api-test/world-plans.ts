import type { SavedPlanDetail, SaveRolloutPlanInput } from '@hoodcloud/contracts/http/rollout-plans';
import type { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { checksumOf, insertNode } from '@hoodcloud/testkit/rows';

const CHAIN = 'planned';
const profile = `chain_profile_id: ${CHAIN}
node_types: [validator]
binaries: [{ name: cometbft }]
health:
  healthy_expression: metrics.up == 1
  synced_expression: metrics.syncing == 0
`;

/** A saved plan of a chain that nothing else changes, so that it may be started again and again. */
export async function addPlan(api: ApiFixture, add: (operation: string, parameters: { id: string }) => void) {
  await api.writeConfig(`${CHAIN}/profile.yaml`, profile);
  await insertNode(api.database.db, { chain_profile_id: CHAIN });
  const body: SaveRolloutPlanInput = {
    request: {
      chain_profile_id: CHAIN,
      node_type: 'validator',
      binary_name: 'cometbft',
      source_version: 'v1.0.0',
      target_version: 'v2.0.0',
      target_binary_url: 'https://example.org/v2',
      target_binary_checksum: checksumOf('b'),
      manifest_content_hash: checksumOf('c'),
      strategy: 'rolling',
    },
  };
  const saved = await api.call<SavedPlanDetail>('POST', '/rollout-plans', body);
  if (saved.status !== 201) throw new Error(`the plan was not saved: ${JSON.stringify(saved.body)}`);
  for (const operation of ['getRolloutPlan', 'startRolloutPlan']) add(operation, { id: saved.body.id });
}
