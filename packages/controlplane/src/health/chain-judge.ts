import type { ApplicationHealth, SyncStatus } from '@hoodcloud/domain/node-state';
import {
  bindMetrics,
  compileExpression,
  type MetricBindings,
  type MetricExpression,
  type Sample,
} from './cel-expression.ts';
import type { ChainHealth } from './chain-health.ts';

/** What the judge needs of a component's report. */
export interface JudgedComponent {
  readonly active: boolean;
  readonly mainPid: number;
  readonly metrics: readonly Sample[];
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
 * @throws ExpressionError naming the field of the profile
 */
export function compileChainJudge(health: ChainHealth): ChainJudge {
  const healthy = compileExpression('health.healthy_expression', health.healthy_expression);
  const synced = compileExpression('health.synced_expression', health.synced_expression);
  const ready = health.ready_expression ? compileExpression('health.ready_expression', health.ready_expression) : null;
  const names = new Set([healthy, synced, ready].flatMap((expression) => expression?.metricNames ?? []));
  if (health.height_metric) names.add(health.height_metric);
  return {
    metricNames: [...names].sort(),
    judge: (components) => {
      const bindings = bindMetrics(components.flatMap((component) => component.metrics));
      return {
        application_health: applicationHealth(components, healthy.holds(bindings)),
        sync_status: syncStatus(synced, bindings),
        height: height(health.height_metric, bindings),
        ready: ready?.holds(bindings) ?? null,
      };
    },
  };
}

/** A component that does not run is critical whatever its last metrics say; an expression that fails means degraded. */
function applicationHealth(components: readonly JudgedComponent[], healthy: boolean | null): ApplicationHealth {
  if (components.some((component) => !component.active || component.mainPid === 0)) return 'critical';
  if (healthy === null) return 'unknown';
  return healthy ? 'ok' : 'degraded';
}

function syncStatus(synced: MetricExpression, bindings: MetricBindings): SyncStatus {
  const holds = synced.holds(bindings);
  if (holds === null) return 'unknown';
  return holds ? 'synced' : 'syncing';
}

/** The metric's value as a whole number; when several components report it, the greatest. */
function height(metric: string | undefined, { series }: MetricBindings): number | null {
  if (!metric) return null;
  const values = (series.get(metric) ?? []).map((one) => one.get('value')).filter((one) => typeof one === 'number');
  const usable = values.filter((value) => Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER);
  return usable.length === 0 ? null : Math.floor(Math.max(...usable));
}
