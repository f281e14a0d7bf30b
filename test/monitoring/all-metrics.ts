import '@hoodcloud/controlplane/gateway/gateway-metrics';
import { countRequests } from '@hoodcloud/controlplane/http/request-metrics';
import { rolloutInstruments } from '@hoodcloud/controlplane/rollouts/rollout-instruments';
import { queueInstruments } from '@hoodcloud/controlplane/telemetry/queue-metrics';
import '@hoodcloud/controlplane/telemetry/reconciler-metrics';
import { metrics } from '@hoodcloud/controlplane/telemetry/registry';
import { fastify } from 'fastify';
import type { Registry } from 'prom-client';

/** The registry of a process that runs every role: each metric that the control plane tells, before anything is counted. */
export function allMetrics(): Registry {
  if (metrics.getSingleMetric('hoodcloud_rollout_total')) return metrics;
  rolloutInstruments(metrics);
  queueInstruments(metrics);
  countRequests(fastify(), metrics);
  return metrics;
}
