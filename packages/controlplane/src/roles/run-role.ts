import type { Config } from '../config.ts';
import type { Logger } from '../feature.ts';
import { type StatusServer, startStatusServer } from '../telemetry/status-server.ts';
import { openProcessParts, type ProcessParts } from './process-parts.ts';
import type { RunningRole } from './role.ts';

export type RoleName = 'api' | 'gateway' | 'worker' | 'reconciler';

/** Imported when it is started: a gateway needs neither the engine's worker nor the HTTP server, which are half of its memory. */
const START: Readonly<Record<RoleName, (parts: ProcessParts) => Promise<RunningRole>>> = {
  api: async (parts) => (await import('./api-role.ts')).startApiRole(parts),
  gateway: async (parts) => (await import('./gateway-role.ts')).startGatewayRole(parts),
  worker: async (parts) =>
    (await import('./worker-role.ts')).startWorkerRole(parts, parts.config.cacheDir ?? undefined),
  reconciler: async (parts) => (await import('./reconciler-role.ts')).startReconcilerRole(parts),
};

/** Runs one role until the signal aborts or the role fails; then everything it holds is given back. */
export async function runRole(name: RoleName, config: Config, log: Logger, stop: AbortSignal): Promise<void> {
  const parts = await openProcessParts(config, log);
  let role: RunningRole | undefined;
  let status: StatusServer | undefined;
  try {
    // The API serves its own health and metrics.
    if (name !== 'api') status = await startStatusServer(config.metricsListen, () => parts.ready());
    role = await START[name](parts);
    log.info({ role: name, address: role.address, status: status?.address }, `${name} is up`);
    await Promise.race([role.failed, aborted(stop)]);
    log.info({ role: name }, `${name} is stopping`);
  } finally {
    await role?.stop();
    await status?.close();
    await parts.close();
  }
}

/** Settles when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
