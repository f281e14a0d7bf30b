import { reason } from '@hoodcloud/domain/reasons';
import type { RolloutLab, Scene } from '@hoodcloud/testkit/rollout-lab';

/** One interesting path through the workflows; answers the rollout and nodes whose histories are kept. */
export type HistoryScene = (lab: RolloutLab) => Promise<Scene>;

async function run(lab: RolloutLab, scene: Scene, ...until: string[]): Promise<Scene> {
  await lab.start(scene.rolloutId);
  await lab.until(scene.rolloutId, ...until);
  return scene;
}

/** Starts a rollout of single-node batches and stops when the first command is open. */
async function firstCommandOpen(lab: RolloutLab, size: number): Promise<Scene> {
  const scene = await lab.scene(size, { batch_size: 1 });
  lab.script.agent = () => 'silent';
  await lab.start(scene.rolloutId);
  await lab.waitFor('the command', async () => lab.commandsOf(scene.rolloutId, 'UPGRADE').length === 1);
  return scene;
}

/** By file name; every path that a change of workflow code could break for runs that are under way. */
export const HISTORY_SCENES: Readonly<Record<string, HistoryScene>> = {
  'rolling-in-two-batches': async (lab) => run(lab, await lab.scene(2, { batch_size: 1 }), 'completed'),
  'canary-with-observation': async (lab) =>
    run(lab, await lab.scene(2, { strategy: 'canary', health_wait_ms: 300 }), 'completed'),
  'agent-undid-it': async (lab) => {
    lab.script.agent = () => ({ outcome: 'rolled_back', error: 'it panics' });
    return run(lab, await lab.scene(1), 'paused');
  },
  'health-not-proved-and-compensated': async (lab) => {
    lab.script.health = () => [reason('crash_loop', { restarts: 4 })];
    return run(lab, await lab.scene(1), 'paused');
  },
  'left-stopped': async (lab) => {
    lab.script.agent = () => ({ outcome: 'completed', leftStopped: true });
    return run(lab, await lab.scene(1), 'completed');
  },
  'validation-skipped': async (lab) => run(lab, await lab.scene(1, { skip_validation: true }), 'completed'),
  'paused-and-resumed': async (lab) => {
    const scene = await firstCommandOpen(lab, 2);
    await lab.order(scene.rolloutId, 'pause');
    lab.script = {};
    await lab.until(scene.rolloutId, 'paused');
    await lab.order(scene.rolloutId, 'resume');
    await lab.until(scene.rolloutId, 'completed');
    return scene;
  },
  'paused-by-a-signal-by-hand': async (lab) => {
    const scene = await firstCommandOpen(lab, 2);
    await lab.client.workflow.getHandle(`rollout-${scene.rolloutId}`).signal('pause');
    lab.script = {};
    await lab.until(scene.rolloutId, 'paused');
    await lab.client.workflow.getHandle(`rollout-${scene.rolloutId}`).signal('cancel');
    await lab.until(scene.rolloutId, 'canceled');
    return scene;
  },
  canceled: async (lab) => {
    const scene = await firstCommandOpen(lab, 2);
    await lab.order(scene.rolloutId, 'cancel');
    lab.script = {};
    await lab.until(scene.rolloutId, 'canceled');
    return scene;
  },
  'rolled-back-after-its-end': async (lab) => {
    const scene = await run(lab, await lab.scene(2, { batch_size: 2 }), 'completed');
    await lab.order(scene.rolloutId, 'rollback');
    await lab.until(scene.rolloutId, 'rolled_back');
    return scene;
  },
  'retried-while-paused': async (lab) => {
    lab.script.agent = () => ({ outcome: 'refused', error: 'busy' });
    const scene = await run(lab, await lab.scene(1), 'paused');
    lab.script = {};
    const [node = ''] = scene.nodes;
    await lab.retry(scene.rolloutId, node);
    await lab.waitFor('the second attempt', async () => (await lab.row(scene.rolloutId, node)).status === 'succeeded');
    return scene;
  },
  'forced-past-the-threshold': async (lab) => {
    lab.script.agent = () => ({ outcome: 'refused', error: 'busy' });
    const scene = await run(lab, await lab.scene(2, { batch_size: 1 }), 'paused');
    await lab.order(scene.rolloutId, 'force');
    await lab.until(scene.rolloutId, 'completed');
    return scene;
  },
  'breaking-migration-approved': async (lab) => {
    const breaking = { strategy: 'canary', migration_type: 'breaking', health_wait_ms: 100 } as const;
    const scene = await lab.scene(2, breaking);
    await lab.start(scene.rolloutId);
    await lab.waitFor('the approval to be due', async () => {
      const { last_decision } = await lab.rollout(scene.rolloutId);
      const { reasons = [] } = (last_decision ?? {}) as { reasons?: { code: string }[] };
      return reasons.some(({ code }) => code === 'waiting_for_approval');
    });
    await lab.order(scene.rolloutId, 'approve_canary');
    await lab.until(scene.rolloutId, 'completed');
    return scene;
  },
  'rolled-back-in-the-middle': async (lab) => {
    const scene = await firstCommandOpen(lab, 2);
    await lab.order(scene.rolloutId, 'rollback');
    lab.script = {};
    await lab.until(scene.rolloutId, 'rolled_back');
    return scene;
  },
  'rollback-that-failed': async (lab) => {
    const scene = await run(lab, await lab.scene(1), 'completed');
    lab.script.agent = () => ({ outcome: 'rolled_back', error: 'it is in use' });
    await lab.order(scene.rolloutId, 'rollback');
    await lab.until(scene.rolloutId, 'failed');
    return scene;
  },
  'retried-after-its-end': async (lab) => {
    lab.script.agent = () => ({ outcome: 'refused', error: 'busy' });
    const scene = await run(lab, await lab.scene(1, { failure_threshold: 1 }), 'completed');
    lab.script = {};
    const [node = ''] = scene.nodes;
    await lab.retry(scene.rolloutId, node);
    await lab.waitFor('the second attempt', async () => (await lab.row(scene.rolloutId, node)).status === 'succeeded');
    return scene;
  },
};
