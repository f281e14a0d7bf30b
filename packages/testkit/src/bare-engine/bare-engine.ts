import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

export interface BareActivities {
  step(): Promise<void>;
  command(): Promise<void>;
}

export interface BareRun {
  /** Seconds from the first start until each workflow had come to its command, and until all had ended. */
  readonly allCommandedS: number;
  readonly allEndedS: number;
}

const AT_ONCE = 100;

Runtime.install({ logger: new DefaultLogger('WARN') });

/**
 * Bare workflows on a Temporal server, started as fast as it takes them, run by a worker in this process with the SDK's
 * own settings: the floor of what node upgrades on the same server cost.
 */
export async function runBareWorkflows(address: string, count: number): Promise<BareRun> {
  const taskQueue = `bare-${process.pid}-${Date.now()}`;
  const native = await NativeConnection.connect({ address });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  let commandedAt = 0;
  const activities: BareActivities = {
    step: async () => undefined,
    command: async () => {
      commandedAt = performance.now();
    },
  };
  const workflowsPath = fileURLToPath(new URL('./bare-workflow.ts', import.meta.url));
  const worker = await Worker.create({ connection: native, taskQueue, workflowsPath, activities });
  const running = worker.run();
  try {
    const began = performance.now();
    const results: Promise<unknown>[] = [];
    for (let start = 0; start < count; start += AT_ONCE) {
      const ids = Array.from({ length: Math.min(AT_ONCE, count - start) }, (_, at) => `${taskQueue}-${start + at}`);
      const handles = await Promise.all(
        ids.map((workflowId) => client.workflow.start('BareWorkflow', { taskQueue, workflowId })),
      );
      results.push(...handles.map((handle) => handle.result()));
    }
    await Promise.all(results);
    return { allCommandedS: (commandedAt - began) / 1000, allEndedS: (performance.now() - began) / 1000 };
  } finally {
    worker.shutdown();
    await running;
    await connection.close();
    await native.close();
  }
}
