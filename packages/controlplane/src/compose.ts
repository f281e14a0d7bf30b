import type { Client } from '@temporalio/client';
import { approvalRoutes } from './approvals/approval-routes.ts';
import { accessRoutes } from './auth/access-routes.ts';
import type { Config } from './config.ts';
import type { Notifications } from './db/notifications.ts';
import { activityHeartbeats } from './engine/activity-heartbeats.ts';
import { commandExpiry } from './engine/command-expiry.ts';
import { engineRelay } from './engine/engine-relay.ts';
import { engineSweep } from './engine/engine-sweep.ts';
import { eventRelay } from './events/event-relay.ts';
import { eventRoutes } from './events/event-routes.ts';
import { natsPublication } from './events/nats-publication.ts';
import type { NatsPublisher } from './events/nats-publisher.ts';
import type { Feature, Services } from './feature.ts';
import type { ChainHealthSource } from './health/chain-health.ts';
import { healthFeature } from './health/health-feature.ts';
import { idempotencyExpiry } from './http/idempotency-expiry.ts';
import { incidentRoutes } from './incidents/incident-routes.ts';
import type { ChainFiles } from './manifests/chain-files.ts';
import { chainRoutes } from './manifests/chain-routes.ts';
import type { ManifestReader } from './manifests/manifest-reader.ts';
import { nodeRoutes } from './nodes/node-routes.ts';
import { channelDispatch } from './notifications/channel-dispatch.ts';
import { channelRegistration } from './notifications/channel-registration.ts';
import { notificationRoutes } from './notifications/notification-routes.ts';
import type { OpenChannel } from './notifications/open-channels.ts';
import { overrideRoutes } from './policies/override-routes.ts';
import { policyRoutes } from './policies/policy-routes.ts';
import { groupFeature } from './rollout-groups/group-feature.ts';
import { planExpiry } from './rollout-plans/plan-expiry.ts';
import { planRoutes } from './rollout-plans/plan-routes.ts';
import { heightWatchdog } from './rollouts/height-watchdog.ts';
import type { TargetSources } from './rollouts/judge-targets.ts';
import { maintenanceCleanup } from './rollouts/maintenance-cleanup.ts';
import { nodeUpgradeActivities } from './rollouts/node-upgrade-activities.ts';
import type { RolloutSources } from './rollouts/prepare-rollout.ts';
import { rolloutActivities } from './rollouts/rollout-activities.ts';
import { rolloutMetrics } from './rollouts/rollout-metrics.ts';
import { rolloutRoutes } from './rollouts/rollout-routes.ts';
import { stagingLoop } from './staging/staging-loop.ts';
import { queueMetrics } from './telemetry/queue-metrics.ts';
import { metrics } from './telemetry/registry.ts';
import { traceExport } from './tracing/trace-export.ts';

/** What the features of one process share. */
export interface Parts extends Services {
  readonly config: Config;
  readonly engine: Client;
  readonly chains: ChainFiles;
  readonly manifests: ManifestReader;
  readonly notifications: Pick<Notifications, 'listen'>;
  readonly targets: TargetSources;
  readonly plans: RolloutSources['plans'];
  readonly chainHealth: ChainHealthSource;
  /** Null: NATS is not configured. */
  readonly eventPublisher: NatsPublisher | null;
  /** Opened by the reconciler alone: their secrets are nobody else's. */
  readonly channels?: readonly OpenChannel[];
}

/** Every feature of the control plane; a role takes from each what it runs (design, "a role is a filter over features"). */
export function composeFeatures(parts: Parts): Feature[] {
  const { db, chains, chainHealth, manifests } = parts;
  return [
    rolloutsFeature(parts),
    groupFeature(db, sourcesOf(parts)),
    plansFeature(parts),
    { name: 'policies', routes: policyRoutes(db) },
    { name: 'overrides', routes: overrideRoutes(db, chains) },
    { name: 'nodes', routes: nodeRoutes(db, chains) },
    { name: 'approvals', routes: approvalRoutes(db) },
    { name: 'manifests', routes: chainRoutes({ db, chains, manifests }) },
    { name: 'incidents', routes: incidentRoutes(db, parts.config.runbooks) },
    healthFeature(parts, chainHealth),
    eventsFeature(parts),
    notificationsFeature(parts),
    engineFeature(parts),
    { name: 'auth', routes: accessRoutes(db) },
    { name: 'staging', reconcilers: [stagingLoop(db, parts.targets, parts.log)] },
    { name: 'http', reconcilers: [idempotencyExpiry(db)] },
    tracingFeature(parts),
  ];
}

function sourcesOf({ chains, manifests, targets, plans }: Parts): RolloutSources {
  return { files: { chains, manifests }, targets, plans };
}

function rolloutsFeature(parts: Parts): Feature {
  const { db, targets, config, chains, manifests } = parts;
  const sources = sourcesOf(parts);
  return {
    name: 'rollouts',
    routes: rolloutRoutes({ db, sources, reads: { chains, manifests } }),
    activities: { ...rolloutActivities(db, targets), ...nodeUpgradeActivities(db, targets) },
    reconcilers: [maintenanceCleanup(db, config.maintenanceCleanupMs), heightWatchdog(db), rolloutMetrics(db, metrics)],
  };
}

function plansFeature(parts: Parts): Feature {
  const { db, chains, manifests } = parts;
  const routes = planRoutes({ db, sources: sourcesOf(parts), reads: { chains, manifests } });
  return { name: 'rollout-plans', routes, reconcilers: [planExpiry(db)] };
}

function eventsFeature({ db, log, notifications, eventPublisher }: Parts): Feature {
  return {
    name: 'events',
    routes: eventRoutes({ db, notifications, log }),
    reconcilers: [eventRelay(db), ...(eventPublisher ? [natsPublication(db, eventPublisher)] : [])],
  };
}

function tracingFeature({ db, config }: Parts): Feature {
  const url = config.tracesUrl;
  if (url === null) return { name: 'tracing' };
  const open = async () => new (await import('./tracing/otlp-exporter.ts')).OtlpExporter(url);
  return { name: 'tracing', reconcilers: [traceExport(db, open)] };
}

function notificationsFeature({ db, log, channels = [] }: Parts): Feature {
  return {
    name: 'notifications',
    routes: notificationRoutes(db),
    reconcilers: [
      channelRegistration(db, channels),
      ...channels.map(({ config, channel }) => channelDispatch({ db, log }, config, channel)),
    ],
  };
}

function engineFeature(parts: Parts): Feature {
  const { db, engine, config } = parts;
  return {
    name: 'engine',
    reconcilers: [
      engineRelay(parts, engine, config.engine.taskQueue),
      activityHeartbeats(db, engine),
      engineSweep(db),
      commandExpiry(db),
      queueMetrics(db, metrics),
    ],
  };
}
