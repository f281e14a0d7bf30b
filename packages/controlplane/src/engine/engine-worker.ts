import { NativeConnection, Worker } from '@temporalio/worker';
import type { EngineAddress } from './temporal-connection.ts';
import type { WorkflowBundle } from './workflow-bundle.ts';

export interface EngineWorkerOptions extends EngineAddress {
  readonly bundle: WorkflowBundle;
  /** By their names in the specification. */
  readonly activities: Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;
  /** How long activities under way may take to end at a shutdown. */
  readonly graceMs?: number;
}

export interface EngineWorker {
  /** Settles when the worker has stopped; rejects when it failed. */
  readonly stopped: Promise<void>;
  /** Takes no new work, lets what runs end, then closes the connection. */
  shutdown(): Promise<void>;
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
