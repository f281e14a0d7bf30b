import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WORKER_DEPLOYMENT } from '../engine/engine-worker.ts';
import { nodeWorkflowId, rolloutWorkflowId } from './workflow-ids.ts';

let lab: RolloutLab;
beforeAll(async () => {
  lab = await RolloutLab.open();
  await lab.stopWorker(); // the unversioned one
});
afterAll(() => lab.close());

/** What an operator does with `temporal worker deployment set-current-version`; refused until a worker of it has polled. */
async function makeCurrent(buildId: string): Promise<void> {
  await lab.waitFor(`build ${buildId} to be known`, async () => {
    try {
      await lab.client.workflowService.setWorkerDeploymentCurrentVersion({
        ...{ namespace: 'default', deploymentName: WORKER_DEPLOYMENT, buildId, identity: 'test' },
        ignoreMissingTaskQueues: true,
        allowNoPollers: false,
      });
      return true;
    } catch (error) {
      if (error instanceof Error && /not found|no pollers|has not/i.test(error.message)) return false;
      throw error;
    }
  });
}

async function buildOf(workflowId: string): Promise<string | undefined> {
  const { raw } = await lab.client.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
}

it('a rollout starts on one build and ends on the next, and a node upgrade ends on the build that began it', async () => {
  const [before, after] = [`${lab.taskQueue}-1`, `${lab.taskQueue}-2`];
  await lab.startWorker(before);
  await makeCurrent(before);
  const { rolloutId } = await lab.scene(2, { batch_size: 1 });
  lab.script.agent = () => 'silent';
  await lab.start(rolloutId);
  await lab.waitFor('the first command', async () => lab.commandsOf(rolloutId, 'UPGRADE').length === 1);

  await lab.startWorker(after);
  await makeCurrent(after);
  lab.script = {};
  await lab.until(rolloutId, 'completed');

  const [first, second] = lab.commandsOf(rolloutId, 'UPGRADE').map(({ nodeId }) => nodeWorkflowId(rolloutId, nodeId));
  expect(await buildOf(first ?? '')).toBe(before);
  expect(await buildOf(second ?? '')).toBe(after);
  expect(await buildOf(rolloutWorkflowId(rolloutId))).toBe(after);
});
