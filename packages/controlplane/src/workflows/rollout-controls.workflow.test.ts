import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rolloutWorkflowId } from './workflow-ids.ts';

let lab: RolloutLab;
beforeAll(async () => {
  lab = await RolloutLab.open();
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.script = {};
});

const count = (statuses: readonly string[], status: string) => statuses.filter((one) => one === status).length;

async function statuses(rolloutId: string): Promise<string[]> {
  return (await lab.rows(rolloutId)).map((row) => row.status);
}

/** A rollout of which the first node's command is open. */
async function inTheMiddle(size: number) {
  const scene = await lab.scene(size, { batch_size: 1 });
  lab.script.agent = () => 'silent';
  await lab.start(scene.rolloutId);
  await lab.waitFor('the first command', async () => lab.commandsOf(scene.rolloutId, 'UPGRADE').length === 1);
  return scene;
}

it('pause: what runs ends, nothing new begins until resume', async () => {
  const { rolloutId } = await inTheMiddle(3);
  await lab.order(rolloutId, 'pause');
  lab.script = {};
  const paused = await lab.until(rolloutId, 'paused', 'completed');
  expect(paused).toMatchObject({ status: 'paused', status_reason: 'paused_by_operator', succeeded_nodes: 1 });
  expect(lab.commandsOf(rolloutId, 'UPGRADE')).toHaveLength(1);
  await lab.order(rolloutId, 'resume');
  await lab.until(rolloutId, 'completed');
});

it('cancel: what runs ends, the rest is left out, then the rollout is canceled', async () => {
  const { rolloutId } = await inTheMiddle(3);
  await lab.order(rolloutId, 'cancel');
  const cancels = async () => {
    const decision = (await lab.rollout(rolloutId)).last_decision as { reasons: { code: string }[] } | null;
    return decision?.reasons.some(({ code }) => code === 'canceling');
  };
  await lab.waitFor('the drain', cancels);
  expect((await lab.rollout(rolloutId)).status).toBe('running');
  lab.script = {};
  await lab.until(rolloutId, 'canceled');
  expect((await statuses(rolloutId)).sort()).toEqual(['skipped', 'skipped', 'succeeded']);
});

it('threshold: pauses when too many failed, resume acknowledges them, the next failure pauses again (C5)', async () => {
  const { rolloutId } = await lab.scene(4, { batch_size: 1, failure_threshold: 0 });
  lab.script.agent = () => ({ outcome: 'rolled_back', error: 'no' });
  await lab.start(rolloutId);
  expect(await lab.until(rolloutId, 'paused')).toMatchObject({
    status_reason: 'failure_threshold_exceeded',
    failed_nodes: 1,
  });
  await lab.order(rolloutId, 'resume');
  await lab.waitFor('the second failure', async () => count(await statuses(rolloutId), 'rolled_back') === 2);
  await lab.until(rolloutId, 'paused');
  lab.script = {};
  await lab.order(rolloutId, 'resume');
  expect(await lab.until(rolloutId, 'completed')).toMatchObject({ succeeded_nodes: 2, failed_nodes: 2 });
});

it('force: lifts the pause of the threshold and holds from then on', async () => {
  const { rolloutId } = await lab.scene(3, { batch_size: 1 });
  lab.script.agent = () => ({ outcome: 'refused', error: 'busy' });
  await lab.start(rolloutId);
  await lab.until(rolloutId, 'paused');
  await lab.order(rolloutId, 'force');
  expect(await lab.until(rolloutId, 'completed')).toMatchObject({ failed_nodes: 3 });
});

it('a signal sent by hand is stored as a control by the next question, once (C7a)', async () => {
  const { rolloutId } = await inTheMiddle(2);
  await lab.client.workflow.getHandle(rolloutWorkflowId(rolloutId)).signal('pause');
  lab.script = {};
  await lab.until(rolloutId, 'paused');
  const controls = await lab.db
    .selectFrom('rollout_controls')
    .select(['kind', 'actor'])
    .where('rollout_id', '=', rolloutId)
    .where('kind', '=', 'pause')
    .execute();
  expect(controls).toEqual([{ kind: 'pause', actor: 'signal:temporal' }]);
  await lab.order(rolloutId, 'resume');
  await lab.until(rolloutId, 'completed');
});

describe('retry', () => {
  it('gives a failed node another attempt from the beginning, also after the rollout has ended (C8)', async () => {
    const { rolloutId, nodes } = await lab.scene(2, { batch_size: 2, failure_threshold: 1 });
    const [bad = ''] = nodes;
    lab.script.agent = ({ nodeId }) =>
      nodeId === bad ? { outcome: 'refused', error: 'busy' } : { outcome: 'completed' };
    await lab.start(rolloutId);
    expect(await lab.until(rolloutId, 'completed')).toMatchObject({ succeeded_nodes: 1, failed_nodes: 1 });
    lab.script = {};
    await lab.retry(rolloutId, bad);
    await lab.waitFor('the second attempt', async () => (await lab.row(rolloutId, bad)).status === 'succeeded');
    expect(await lab.row(rolloutId, bad)).toMatchObject({
      attempt_count: 2,
      upgrade_phase: 'COMPLETED',
      error_message: null,
    });
    const again = lab.commandsOf(rolloutId, 'UPGRADE').filter(({ nodeId }) => nodeId === bad);
    expect(again.map(({ payload }) => payload.attemptId)).toEqual([`${rolloutId}.${bad}.1`, `${rolloutId}.${bad}.2`]);
    await lab.waitFor('the counters', async () => (await lab.rollout(rolloutId)).failed_nodes === 0);
  });

  it('ordered the moment an attempt ends is not lost', async () => {
    const { rolloutId, nodes } = await lab.scene(1, { failure_threshold: 1 });
    const [node = ''] = nodes;
    lab.script.agent = ({ payload }) =>
      payload.attemptId.endsWith('.4') ? { outcome: 'completed' } : { outcome: 'refused', error: 'no' };
    await lab.start(rolloutId);
    for (const attempt of [1, 2, 3]) {
      await lab.waitFor(`failure ${attempt}`, async () => {
        const row = (await lab.rows(rolloutId))[0];
        return row?.attempt_count === attempt && row.status === 'failed';
      });
      await lab.retry(rolloutId, node);
    }
    await lab.waitFor('the fourth attempt', async () => (await lab.row(rolloutId, node)).status === 'succeeded');
  });
});

describe('rollback', () => {
  it('takes every succeeded node back to what it ran before, and ends rolled_back', async () => {
    const { rolloutId, nodes } = await lab.scene(3, { batch_size: 3 });
    await lab.start(rolloutId);
    await lab.until(rolloutId, 'completed');
    await lab.order(rolloutId, 'rollback');
    const rollout = await lab.until(rolloutId, 'rolled_back', 'failed');
    expect(rollout).toMatchObject({ status: 'rolled_back', direction: 'rollback', failed_nodes: 0 });
    expect(await statuses(rolloutId)).toEqual(nodes.map(() => 'rolled_back'));
    const back = lab.commandsOf(rolloutId, 'UPGRADE').slice(3);
    expect(
      back.map(({ payload }) => [payload.targetVersion, payload.artifact?.checksum, payload.sourceVersion]),
    ).toEqual(nodes.map(() => ['v1.0.0', `sha256:${'a'.repeat(64)}`, 'v2.0.0']));
    const states = await lab.db
      .selectFrom('node_config_state')
      .select('binary_version')
      .where('node_id', 'in', nodes)
      .execute();
    expect(states.map((state) => state.binary_version)).toEqual(nodes.map(() => 'v1.0.0'));
  });

  it('puts the configs back that the upgrade wrote, each as that attempt found it', async () => {
    lab.script.configs = () => [
      { path: '/etc/node/app.toml', content: Buffer.from('peers = 100'), checksum: 'sha256:1' },
    ];
    const { rolloutId, nodes } = await lab.scene(1);
    await lab.start(rolloutId);
    await lab.until(rolloutId, 'completed');
    await lab.order(rolloutId, 'rollback');
    await lab.until(rolloutId, 'rolled_back', 'failed');
    const configs = lab
      .commandsOf(rolloutId, 'UPGRADE')
      .map(({ payload }) =>
        payload.configFiles.map((file) => [file.path, Buffer.from(file.content).toString(), file.restoreAttemptId]),
      );
    expect(configs).toEqual([
      [['/etc/node/app.toml', 'peers = 100', '']],
      [['/etc/node/app.toml', '', `${rolloutId}.${nodes[0]}.1`]],
    ]);
  });

  it('from running: drains, leaves out what had no turn, and goes back', async () => {
    const { rolloutId } = await inTheMiddle(3);
    await lab.order(rolloutId, 'rollback');
    lab.script = {};
    await lab.until(rolloutId, 'rolled_back', 'failed');
    expect((await statuses(rolloutId)).sort()).toEqual(['rolled_back', 'skipped', 'skipped']);
  });

  it('that fails on a node ends failed, with one critical incident', async () => {
    const { rolloutId, nodes } = await lab.scene(2, { batch_size: 2 });
    const [bad = ''] = nodes;
    await lab.start(rolloutId);
    await lab.until(rolloutId, 'completed');
    lab.script.agent = ({ nodeId, operation }) =>
      operation === 'UPGRADE' && nodeId === bad ? { outcome: 'rolled_back', error: 'no' } : { outcome: 'completed' };
    await lab.order(rolloutId, 'rollback');
    expect(await lab.until(rolloutId, 'rolled_back', 'failed')).toMatchObject({
      status: 'failed',
      status_reason: 'rollback_incomplete',
    });
    const incidents = await lab.db.selectFrom('incidents').selectAll().where('rollout_id', '=', rolloutId).execute();
    expect(incidents).toMatchObject([{ category: 'upgrade_rollback_failed', severity: 'critical', node_id: bad }]);
  });
});
