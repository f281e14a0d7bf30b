import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

let lab: RolloutLab;
beforeAll(async () => {
  lab = await RolloutLab.open();
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.script = {};
});

/** Node ids by batch, as far as their attempt has begun. */
async function begun(rolloutId: string): Promise<number[]> {
  return (await lab.rows(rolloutId)).filter((row) => row.attempt_count > 0).map((row) => row.batch_index);
}

it('rolling: upgrades every node, batch after batch, and confirms each', async () => {
  let most = 0;
  const { rolloutId, nodes } = await lab.scene(5, { batch_size: 2 });
  const open = new Set<string>();
  lab.script.agent = ({ nodeId, operation }) => {
    if (operation === 'UPGRADE') open.add(nodeId);
    most = Math.max(most, open.size);
    return { outcome: 'completed' };
  };
  lab.script.health = (nodeId) => {
    open.delete(nodeId);
    return [];
  };
  await lab.start(rolloutId);
  const rollout = await lab.until(rolloutId, 'completed', 'failed', 'paused');
  expect(rollout).toMatchObject({ status: 'completed', succeeded_nodes: 5, failed_nodes: 0, pending_nodes: 0 });
  expect(most).toBeLessThanOrEqual(2);
  const rows = await lab.rows(rolloutId);
  expect(rows.map((row) => [row.status, row.upgrade_phase, row.attempt_count])).toEqual(
    nodes.map(() => ['succeeded', 'COMPLETED', 1]),
  );
  for (const node of nodes) expect(await lab.nodeState(node)).toMatchObject({ state: 'syncing' });
  expect(lab.commandsOf(rolloutId, 'UPGRADE')).toHaveLength(5);
  expect(lab.commandsOf(rolloutId, 'CONFIRM')).toHaveLength(5);
});

it('canary: the rest waits until the canary was watched for twice the health wait', async () => {
  const { rolloutId } = await lab.scene(3, { strategy: 'canary', canary_size: 1, batch_size: 2, health_wait_ms: 700 });
  await lab.start(rolloutId);
  await lab.until(rolloutId, 'completed');
  const rows = await lab.rows(rolloutId);
  const canaryEnded = rows.find((row) => row.batch_index === 0)?.ended_at?.getTime() ?? 0;
  const restBegan = Math.min(...rows.filter((row) => row.batch_index > 0).map((row) => row.started_at?.getTime() ?? 0));
  expect(canaryEnded).toBeGreaterThan(0);
  expect(restBegan - canaryEnded).toBeGreaterThanOrEqual(1400);
});

it('canary: a failed canary pauses the rollout and no other node is touched', async () => {
  const { rolloutId } = await lab.scene(3, { strategy: 'canary', canary_size: 1 });
  lab.script.agent = () => ({ outcome: 'rolled_back', error: 'it does not start' });
  await lab.start(rolloutId);
  const rollout = await lab.until(rolloutId, 'paused', 'completed', 'failed');
  expect(rollout).toMatchObject({ status: 'paused', status_reason: 'canary_failed' });
  expect(await begun(rolloutId)).toEqual([0]);
});

it('breaking migration: waits for its approval through a restart of the worker and of the reconcilers', async () => {
  const { rolloutId } = await lab.scene(2, {
    strategy: 'canary',
    canary_size: 1,
    health_wait_ms: 0,
    migration_type: 'breaking',
    recovery_plan: 'restore from snapshot',
  });
  await lab.start(rolloutId);
  const waits = async () => {
    const decision = (await lab.rollout(rolloutId)).last_decision as { reasons: { code: string }[] } | null;
    return decision?.reasons.some(({ code }) => code === 'waiting_for_approval');
  };
  await lab.waitFor('the wait for an approval', waits);
  await lab.stopWorker();
  await lab.stopReconcilers();
  await lab.startWorker();
  await lab.startReconcilers();
  expect(await begun(rolloutId)).toEqual([0]);
  await lab.order(rolloutId, 'approve_canary');
  await lab.until(rolloutId, 'completed');
  expect(await begun(rolloutId)).toEqual([0, 1]);
});

it('all_at_once: every node is under way at the same time', async () => {
  const { rolloutId } = await lab.scene(6, { strategy: 'all_at_once' });
  lab.script.agent = () => 'silent';
  await lab.start(rolloutId);
  await lab.waitFor('six commands', async () => lab.commandsOf(rolloutId, 'UPGRADE').length === 6);
  lab.script = {};
  await lab.until(rolloutId, 'completed');
});

it('nothing to do is an end with its reason, not a success', async () => {
  const { rolloutId } = await lab.scene(0);
  await lab.start(rolloutId);
  expect(await lab.until(rolloutId, 'failed', 'completed')).toMatchObject({
    status: 'failed',
    status_reason: 'no_eligible_targets',
  });
});
