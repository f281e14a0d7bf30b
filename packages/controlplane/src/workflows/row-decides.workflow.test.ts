import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedTemporalAddress } from '@hoodcloud/testkit/temporal';
import { CompleteAsyncError } from '@temporalio/activity';
import { expect, it } from 'vitest';
import { installEngineLogger } from '../engine/engine-logger.ts';
import { startEngineWorker } from '../engine/engine-worker.ts';
import { openEngineClient } from '../engine/temporal-connection.ts';
import { loadWorkflowBundle } from '../engine/workflow-bundle.ts';
import type { NodeActivities } from './activity-types.ts';
import { nodeWorkflowId } from './workflow-ids.ts';

/**
 * Real engine, scripted activities: what is shown is the workflow's own part, that the engine's clock never ends a wait
 * (a deadline that was extended for a slow stop, A7).
 */
it('waits again when the time of a waiting activity is up and its row is still open', async () => {
  installEngineLogger({ info: () => undefined, warn: () => undefined, error: () => undefined });
  const engine = { address: sharedTemporalAddress(), namespace: 'default', taskQueue: `wait-${randomUUID()}` };
  const waits: string[] = [];
  const ended: string[] = [];
  const activities: NodeActivities = {
    PreCheckNode: async () => ({ kind: 'go', direction: 'upgrade', attemptId: 'attempt' }),
    UpdateNodeState: async () => undefined,
    SendUpgradeCommand: async () => ({ commandId: 'command', scheduleToCloseMs: 700, heartbeatTimeoutMs: 10_000 }),
    WaitForCommandCompletion: async ({ commandId }) => {
      waits.push(commandId);
      if (waits.length < 3) throw new CompleteAsyncError();
      return 'completed';
    },
    UpdateNodeBinaryVersion: async () => ({ kind: 'validate', validationId: 'validation', scheduleToCloseMs: 700 }),
    WaitForHealthValidation: async ({ validationId }) => {
      waits.push(validationId);
      if (waits.length < 5) throw new CompleteAsyncError();
      return 'passed';
    },
    MarkNodeUpgradeSucceeded: async () => void ended.push('succeeded'),
    MarkNodeUpgradeFailed: async () => void ended.push('failed'),
  };
  const worker = await startEngineWorker({
    ...engine,
    bundle: await loadWorkflowBundle(join(tmpdir(), `hoodcloud-workflows-${process.getuid?.() ?? 0}`)),
    activities: { ...activities },
    graceMs: 1000,
  });
  const { client, close } = openEngineClient(engine);
  try {
    const [rolloutId, nodeId] = [randomUUID(), randomUUID()];
    const outcome = await client.workflow.execute('UpgradeNodeWorkflow', {
      workflowId: nodeWorkflowId(rolloutId, nodeId),
      taskQueue: engine.taskQueue,
      args: [{ version: 1, rolloutId, nodeId, attempt: 1 }],
    });
    expect(outcome).toBe('succeeded');
    expect(waits).toEqual(['command', 'command', 'command', 'validation', 'validation']);
    expect(ended).toEqual(['succeeded']);
  } finally {
    await worker.shutdown();
    await close();
  }
});
