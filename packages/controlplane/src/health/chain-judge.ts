import type { ApplicationHealth, SyncStatus } from '@hoodcloud/domain/node-state';
import { compileHealthExpression, type HealthExpression, type MetricValues } from '../manifests/health-expression.ts';
import type { ChainHealth } from './chain-health.ts';

/** What the judge needs of a component's report. */
export interface JudgedComponent {
  readonly active: boolean;
  readonly mainPid: number;
  readonly metrics: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/** A heartbeat as the chain's expressions see it (D0a). `stalled` needs the fleet and is decided later (D4a). */
export interface Judgement {
  readonly application_health: ApplicationHealth;
  readonly sync_status: SyncStatus;
  readonly height: number | null;
  /** Null when the chain has no `ready_expression`, or its metrics are missing (D4b). */
  readonly ready: boolean | null;
}

/** A chain without a readable profile: nothing is known, which never counts as healthy (D3). */
export const UNJUDGED: Judgement = { application_health: 'unknown', sync_status: 'unknown', height: null, ready: null };

/** The expressions of one chain, compiled. */
export interface ChainJudge {
  /** Metrics that heartbeats must carry. */
  readonly metricNames: readonly string[];
  readonly judge: (components: readonly JudgedComponent[]) => Judgement;
}

/**
 * Compiles a chain's health rules.
 * @throws HealthExpressionError; a profile that was loaded has none
 */
export function compileChainJudge(health: ChainHealth): ChainJudge {
  const healthy = compileHealthExpression(health.healthy_expression);
  const synced = compileHealthExpression(health.synced_expression);
  const ready = health.ready_expression ? compileHealthExpression(health.ready_expression) : null;
  const names = new Set([healthy, synced, ready].flatMap((expression) => expression?.metricNames ?? []));
  if (health.height_metric) names.add(health.height_metric);
  return {
    metricNames: [...names].sort(),
    judge: (components) => {
      const metrics = metricsByName(components);
      return {
        application_health: applicationHealth(components, healthy.evaluate(metrics)),
        sync_status: syncStatus(synced, metrics),
        height: height(health.height_metric, metrics),
        ready: ready?.evaluate(metrics) ?? null,
      };
    },
  };
}

/** All components' samples by metric. A null prototype: names come from the host. */
function metricsByName(components: readonly JudgedComponent[]): MetricValues {
  const byName: Record<string, { labels: Readonly<Record<string, string>>; value: number }[]> = Object.create(null);
  for (const { name, labels, value } of components.flatMap((component) => component.metrics)) {
    const series = byName[name] ?? [];
    series.push({ labels, value });
    byName[name] = series;
  }
  return byName;
}

/** A component that does not run is critical whatever its last metrics say; an expression that fails means degraded. */
function applicationHealth(components: readonly JudgedComponent[], healthy: boolean | null): ApplicationHealth {
  if (components.some((component) => !component.active || component.mainPid === 0)) return 'critical';
  if (healthy === null) return 'unknown';
  return healthy ? 'ok' : 'degraded';
}

function syncStatus(synced: HealthExpression, metrics: MetricValues): SyncStatus {
  const holds = synced.evaluate(metrics);
  if (holds === null) return 'unknown';
  return holds ? 'synced' : 'syncing';
}

/** The metric's value as a whole number; when several components report it, the greatest. */
function height(metric: string | undefined, metrics: MetricValues): number | null {
  if (!metric) return null;
  const values = (metrics[metric] ?? []).map((series) => series.value);
  const usable = values.filter((value) => Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER);
  return usable.length === 0 ? null : Math.floor(Math.max(...usable));
}
