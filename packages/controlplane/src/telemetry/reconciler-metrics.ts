import { Counter, Gauge, Histogram } from 'prom-client';
import { metrics } from './registry.ts';

const runs = new Counter({
  name: 'hoodcloud_reconciler_runs_total',
  help: 'Runs of a reconciler by how they ended.',
  labelNames: ['reconciler', 'result'],
  registers: [metrics],
});

const done = new Counter({
  name: 'hoodcloud_reconciler_done_total',
  help: 'Things a reconciler did.',
  labelNames: ['reconciler'],
  registers: [metrics],
});

const seconds = new Histogram({
  name: 'hoodcloud_reconciler_run_duration_seconds',
  help: 'How long a run of a reconciler took.',
  labelNames: ['reconciler'],
  buckets: [0.01, 0.05, 0.25, 1, 5, 30],
  registers: [metrics],
});

const lastRun = new Gauge({
  name: 'hoodcloud_reconciler_last_success_timestamp_seconds',
  help: 'When a reconciler last ran to its end here.',
  labelNames: ['reconciler'],
  registers: [metrics],
});

/**
 * Counts one run of a reconciler and what it did.
 * @param ms how long it took
 */
export function countReconcilerRun(reconciler: string, result: 'ok' | 'error', did: number, ms: number): void {
  runs.inc({ reconciler, result });
  seconds.observe({ reconciler }, ms / 1000);
  if (result === 'ok') lastRun.setToCurrentTime({ reconciler });
  if (did > 0) done.inc({ reconciler }, did);
}
