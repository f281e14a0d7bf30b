import type { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import type { RolloutGroupStatus } from '@hoodcloud/domain/rollout-group-status';
import { GROUP_BINARIES, insertGroup, insertGroupComponents } from '@hoodcloud/testkit/group-rows';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';

/** Which status a control of a group finds something to do in. */
const CONTROLS: Readonly<Record<string, RolloutGroupStatus>> = {
  startRolloutGroup: 'pending',
  pauseRolloutGroup: 'running',
  resumeRolloutGroup: 'paused',
  cancelRolloutGroup: 'running',
  rollbackRolloutGroup: 'running',
  skipRolloutGroupComponent: 'running',
};

const profile = (chain: string) => `chain_profile_id: ${chain}
node_types: [validator]
binaries: [${GROUP_BINARIES.map((name) => `{ name: ${name} }`).join(', ')}]
health:
  healthy_expression: metrics.up == 1
  synced_expression: metrics.syncing == 0
`;

/** A group for each control, on a chain of its own whose first component is upgraded where the group has begun. */
export async function addGroups(api: ApiFixture, add: (operation: string, parameters: { id: string }) => void) {
  const { db } = api.database;
  for (const [operation, status] of Object.entries(CONTROLS)) {
    const chain = operation.toLowerCase();
    await api.writeConfig(`${chain}/profile.yaml`, profile(chain));
    const node = await insertNode(db, { chain_profile_id: chain, runningChecksum: null });
    await insertGroupComponents(db, node);
    const id = await insertGroup(db, { chain_profile_id: chain, status });
    for (const name of [operation, 'getRolloutGroup', 'getRolloutGroupStatus', 'listRolloutGroupEvents'])
      add(name, { id });
    if (status === 'pending') continue;
    const rollout = await insertRollout(db, {
      group_id: id,
      chain_profile_id: chain,
      binary_name: GROUP_BINARIES[0],
      status: 'completed',
      targets_resolved_at: new Date(),
      total_nodes: 1,
      succeeded_nodes: 1,
    });
    const ended = { attempt_count: 1, started_at: new Date(1000), ended_at: new Date(2000) };
    await insertRolloutNode(db, rollout, node, { status: 'succeeded', ...ended });
  }
}
