import { NativeConnection, Worker } from '@temporalio/worker';
import type { EngineAddress } from './temporal-connection.ts';
import type { WorkflowBundle } from './workflow-bundle.ts';

export interface EngineWorkerOptions extends EngineAddress {
  readonly bundle: WorkflowBundle;
  /** By their names in the specification. */
  readonly activities: Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;
  /**
   * Names this release of the worker: node workflows stay on the build that began them, rollout workflows go on on the
   * current one. Left out or null: the worker is unversioned, as in development.
   */
  readonly buildId?: string | null;
  /** How long activities under way may take to end at a shutdown. */
  readonly graceMs?: number;
}

export interface EngineWorker {
  /** Settles when the worker has stopped; rejects when it failed. */
  readonly stopped: Promise<void>;
  /** Takes no new work, lets what runs end, then closes the connection. */
  shutdown(): Promise<void>;
}

/** Name of the worker deployment in Temporal; its versions are the builds. */
export const WORKER_DEPLOYMENT = 'hoodcloud-worker';

function versioned(buildId: string | null) {
  if (buildId === null) return {};
  const version = { deploymentName: WORKER_DEPLOYMENT, buildId };
  // every workflow says itself what it wants, so the default never decides
  return {
    workerDeploymentOptions: {
      version,
      useWorkerVersioning: true as const,
      defaultVersioningBehavior: 'PINNED' as const,
    },
  };
}

/**
 * Starts a Temporal worker with all workflows and the activities given.
 * @throws when the engine can't be reached
 */
export async function startEngineWorker(options: EngineWorkerOptions): Promise<EngineWorker> {
  const connection = await NativeConnection.connect({ address: options.address });
  try {
    const worker = await Worker.create({
      connection,
      namespace: options.namespace,
      taskQueue: options.taskQueue,
      workflowBundle: options.bundle,
      activities: options.activities,
      ...versioned(options.buildId ?? null),
      shutdownGraceTime: options.graceMs ?? 10_000,
      maxConcurrentActivityTaskExecutions: 200,
      maxConcurrentLocalActivityExecutions: 100,
    });
    const stopped = worker.run().finally(() => connection.close());
    return {
      stopped,
      shutdown: async () => {
        if (worker.getState() === 'RUNNING') worker.shutdown();
        await stopped;
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
