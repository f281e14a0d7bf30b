import { collectDefaultMetrics } from 'prom-client';
import { metrics } from './registry.ts';

/** Gauges that the library calls totals: no good names (promtool), and nothing to act on. */
const LEFT_OUT = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * Counts what this process takes: memory, processor time, file handles, how long its event loop stood still. Once a process.
 */
export function countOwnProcess(): void {
  collectDefaultMetrics({ register: metrics });
  for (const name of LEFT_OUT) metrics.removeSingleMetric(name);
}
