import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';

let lab: RolloutLab;
beforeAll(async () => {
  lab = await RolloutLab.open();
});
afterAll(() => lab.close());

it('a node that joins while a rollout runs is upgraded after all others, within its batch size', async () => {
  const { rolloutId } = await lab.scene(2, { batch_size: 1, late_nodes: 'include' });
  const { chain_profile_id } = await lab.rollout(rolloutId);
  const open = new Set<string>();
  let most = 0;
  let joined: Promise<string[]> | null = null;
  lab.script.agent = ({ nodeId, operation }) => {
    if (operation === 'UPGRADE') open.add(nodeId);
    most = Math.max(most, open.size);
    joined ??= Promise.all([insertNode(lab.db, { chain_profile_id }), insertNode(lab.db, { chain_profile_id })]);
    return { outcome: 'completed' };
  };
  lab.script.health = (nodeId) => {
    open.delete(nodeId);
    return [];
  };
  await lab.start(rolloutId);
  const ended = await lab.until(rolloutId, 'completed', 'failed', 'paused');
  expect(ended).toMatchObject({ status: 'completed', total_nodes: 4, succeeded_nodes: 4, pending_nodes: 0 });
  expect(most).toBe(1);
  const rows = await lab.rows(rolloutId);
  const late = rows.filter((row) => row.late);
  expect(late.map(({ node_id }) => node_id).sort()).toEqual([...((await joined) ?? [])].sort());
  expect(late.map(({ batch_index }) => batch_index)).toEqual([2, 3]);
  const othersEnded = Math.max(...rows.flatMap((row) => (row.late ? [] : [row.ended_at?.getTime() ?? 0])));
  for (const { started_at } of late) expect(started_at?.getTime()).toBeGreaterThanOrEqual(othersEnded);
});
