import type { NodeDuty } from '@hoodcloud/domain/node-duty';
import type { ApplicationHealth, SyncStatus } from '@hoodcloud/domain/node-state';
import {
  compileHealthExpression,
  compileNumberExpression,
  type HealthExpression,
  type MetricValues,
} from '../manifests/health-expression.ts';
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
  /** Left out: the chain has none. */
  readonly duties?: readonly NodeDuty[];
}

/** A chain without a readable profile: nothing is known, which never counts as healthy (D3). */
export const UNJUDGED: Judgement = { application_health: 'unknown', sync_status: 'unknown', height: null, ready: null };

/** The node's own voting power and its chain's. */
export interface ToldPower {
  readonly own: number | null;
  readonly total: number | null;
}

/** The expressions of one chain, compiled. */
export interface ChainJudge {
  /** Metrics that heartbeats must carry. */
  readonly metricNames: readonly string[];
  readonly judge: (components: readonly JudgedComponent[]) => Judgement;
  /** What the metrics tell of voting power; null where they tell nothing, or the chain guards no quorum. */
  readonly power: (components: readonly JudgedComponent[]) => ToldPower;
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
  const duties = (health.duties ?? []).flatMap(compileDuty);
  for (const { metricNames } of duties) for (const name of metricNames) names.add(name);
  if (health.height_metric) names.add(health.height_metric);
  const { quorum } = health;
  if (quorum) names.add(quorum.power_metric).add(quorum.total_power_metric);
  return {
    metricNames: [...names].sort(),
    judge: (components) => {
      const metrics = metricsByName(components);
      return {
        application_health: applicationHealth(components, healthy.evaluate(metrics)),
        sync_status: syncStatus(synced, metrics),
        height: greatest(health.height_metric, metrics),
        ready: ready?.evaluate(metrics) ?? null,
        ...(duties.length > 0 && { duties: duties.map(({ judge }) => judge(metrics)) }),
      };
    },
    power: (components) => {
      const metrics = metricsByName(components);
      const own = values(quorum?.power_metric, metrics);
      return {
        own: own.length === 0 ? null : own.reduce((sum, value) => sum + value, 0),
        total: greatest(quorum?.total_power_metric, metrics),
      };
    },
  };
}

/** One duty's expressions, compiled; none of a duty that a command on the host tells. */
function compileDuty({ name, free_expression, wait_seconds_expression }: NonNullable<ChainHealth['duties']>[number]) {
  if (free_expression === undefined) return [];
  const free = compileHealthExpression(free_expression);
  const wait = wait_seconds_expression === undefined ? null : compileNumberExpression(wait_seconds_expression);
  const metricNames = [...new Set([...free.metricNames, ...(wait?.metricNames ?? [])])];
  const judge = (metrics: MetricValues): NodeDuty => ({
    name,
    free: free.evaluate(metrics),
    waitSeconds: wait?.evaluate(metrics) ?? null,
    missing: free.metricNames.filter((metric) => metrics[metric] === undefined),
  });
  return [{ metricNames, judge }];
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

/** Values of a metric that whole numbers can hold, rounded down. */
function values(metric: string | undefined, metrics: MetricValues): number[] {
  const series = (metric && metrics[metric]) || [];
  return series
    .map(({ value }) => Math.floor(value))
    .filter((value) => Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER);
}

/** The metric's value as a whole number; when several components report it, the greatest. */
function greatest(metric: string | undefined, metrics: MetricValues): number | null {
  const usable = values(metric, metrics);
  return usable.length === 0 ? null : Math.max(...usable);
}
