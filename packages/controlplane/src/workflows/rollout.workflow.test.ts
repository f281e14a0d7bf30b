import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let lab: RolloutLab;
beforeEach(async () => {
  lab = await RolloutLab.open();
});
afterEach(() => lab.close());

async function fleet(size: number): Promise<string[]> {
  return Promise.all(Array.from({ length: size }, () => insertNode(lab.db)));
}

describe('rolling', () => {
  it('upgrades every node, batch after batch, and confirms each', async () => {
    const nodes = await fleet(3);
    const rolloutId = await insertRollout(lab.db, { batch_size: 2 });
    await lab.start(rolloutId);
    const rollout = await lab.until(rolloutId, 'completed', 'failed', 'paused');
    expect(rollout).toMatchObject({ status: 'completed', succeeded_nodes: 3, failed_nodes: 0, pending_nodes: 0 });
    const rows = await lab.rows(rolloutId);
    expect(rows.map((row) => [row.status, row.upgrade_phase, row.attempt_count])).toEqual(
      nodes.map(() => ['succeeded', 'COMPLETED', 1]),
    );
    for (const node of nodes) expect(await lab.nodeState(node)).toMatchObject({ state: 'syncing' });
    expect(lab.commands.filter(({ operation }) => operation === 'UPGRADE')).toHaveLength(3);
    expect(lab.commands.filter(({ operation }) => operation === 'CONFIRM')).toHaveLength(3);
  });
});
