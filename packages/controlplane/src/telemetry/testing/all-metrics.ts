import { fastify } from 'fastify';
import type { Registry } from 'prom-client';
import '../../events/nats-publication.ts';
import '../../gateway/gateway-metrics.ts';
import { countRequests } from '../../http/request-metrics.ts';
import '../../notifications/notification-metrics.ts';
import { rolloutInstruments } from '../../rollouts/rollout-instruments.ts';
import { queueInstruments } from '../queue-metrics.ts';
import '../reconciler-metrics.ts';
import { metrics } from '../registry.ts';

/** For tests: the registry of a process of every role: each metric that is told, before anything is counted. */
export function allMetrics(): Registry {
  if (metrics.getSingleMetric('hoodcloud_rollout_total')) return metrics;
  rolloutInstruments(metrics);
  queueInstruments(metrics);
  countRequests(fastify(), metrics);
  return metrics;
}

/** Name and labels of each. */
export function metricLabels(): ReadonlyMap<string, readonly string[]> {
  const all = allMetrics().getMetricsAsArray();
  return new Map(
    all.map((metric) => [metric.name, (metric as unknown as { labelNames: readonly string[] }).labelNames]),
  );
}
