import { composeFeatures } from '../compose.ts';
import { installEngineLogger } from '../engine/engine-logger.ts';
import { startEngineWorker } from '../engine/engine-worker.ts';
import { loadWorkflowBundle } from '../engine/workflow-bundle.ts';
import type { ProcessParts } from './process-parts.ts';
import type { RunningRole } from './role.ts';

/** A Temporal worker with the workflows and the activities of every feature. @throws when the engine can't be reached */
export async function startWorkerRole(parts: ProcessParts, bundleCache?: string): Promise<RunningRole> {
  const { config, log } = parts;
  installEngineLogger(log);
  const activities = Object.assign({}, ...composeFeatures(parts).map((feature) => feature.activities ?? {}));
  const worker = await startEngineWorker({
    ...config.engine,
    bundle: await loadWorkflowBundle(bundleCache),
    activities,
    buildId: config.workerBuildId,
  });
  log.info({ task_queue: config.engine.taskQueue, activities: Object.keys(activities) }, 'worker takes tasks');
  return {
    name: 'worker',
    address: '',
    failed: worker.stopped.then(() => new Promise<never>(() => undefined)),
    stop: () => worker.shutdown(),
  };
}
