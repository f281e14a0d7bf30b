import { DefaultLogger, type LogEntry, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from '../feature.ts';

let installed = false;

/** Sends what the Temporal SDK says to the product's log, from warnings on. The SDK takes one logger a process. */
export function installEngineLogger(log: Logger): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }: LogEntry) => {
      if (level === 'ERROR') log.error({ ...meta }, message);
      else log.warn({ ...meta }, message);
    }),
    // What the SDK's core says goes the same way instead of straight to standard error.
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
  });
}
