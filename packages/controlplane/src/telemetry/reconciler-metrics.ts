import { Counter } from 'prom-client';
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

/** Counts one run of a reconciler and what it did. */
export function countReconcilerRun(reconciler: string, result: 'ok' | 'error', did: number): void {
  runs.inc({ reconciler, result });
  if (did > 0) done.inc({ reconciler }, did);
}
