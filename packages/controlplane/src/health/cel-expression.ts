import { celEnv, isCelError, parse, plan } from '@bufbuild/cel';

/** One series of a metric: its labels and value. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * What an expression sees. `metrics.NAME` is the value of a metric that has exactly one series; a metric with several has
 * no single value and is absent there. `series.NAME` is the list of all, each with `labels` and `value`. Names that are
 * not plain words take the form `metrics["a:b"]`.
 */
export interface MetricBindings {
  readonly metrics: Map<string, number>;
  readonly series: Map<string, Map<string, number | Map<string, string>>[]>;
}

/** A compiled expression over a node's metrics. */
export interface MetricExpression {
  readonly text: string;
  /** Names of the metrics it reads, so that the agent sends these and no others (D0a). */
  readonly metricNames: readonly string[];
  /**
   * Whether it holds. Null when it can't be said: a metric is absent, or the answer is no truth value. So an absent
   * metric is never true (D4b), not even behind a negation.
   */
  readonly holds: (bindings: MetricBindings) => boolean | null;
}

/** A chain's profile has an expression that is not CEL. */
export class ExpressionError extends Error {
  readonly code = 'cel_invalid';
}

/** @throws ExpressionError naming the field and where in the expression it stops making sense */
export function compileExpression(field: string, text: string): MetricExpression {
  let expression: ReturnType<typeof parse>;
  try {
    expression = parse(text);
  } catch (error) {
    throw new ExpressionError(`${field} is no CEL expression: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  const evaluate = plan(celEnv({}), expression);
  return {
    text,
    metricNames: [...namesRead(expression.expr)].sort(),
    holds: (bindings) => {
      const answer = evaluate({ ...bindings });
      return isCelError(answer) || typeof answer !== 'boolean' ? null : answer;
    },
  };
}

/** Groups samples by name for the expressions. */
export function bindMetrics(samples: readonly Sample[]): MetricBindings {
  const series: MetricBindings['series'] = new Map();
  for (const { name, labels, value } of samples) {
    const entry = new Map<string, number | Map<string, string>>([
      ['labels', new Map(Object.entries(labels))],
      ['value', value],
    ]);
    series.set(name, [...(series.get(name) ?? []), entry]);
  }
  const metrics = new Map<string, number>();
  for (const { name, value } of samples) if (series.get(name)?.length === 1) metrics.set(name, value);
  return { metrics, series };
}

/** The part of a syntax tree that names a metric. */
interface TreeNode {
  readonly exprKind?: { readonly case?: string; readonly value?: unknown };
}

/** Every NAME of `metrics.NAME`, `metrics["NAME"]`, `series.NAME` and `series["NAME"]` in a syntax tree. */
function namesRead(tree: unknown, found = new Set<string>()): Set<string> {
  if (typeof tree !== 'object' || tree === null) return found;
  const name = nameAt(tree);
  if (name !== null) found.add(name);
  for (const part of Object.values(tree)) namesRead(part, found);
  return found;
}

function nameAt({ exprKind }: TreeNode): string | null {
  if (exprKind?.case === 'selectExpr') {
    const { operand, field } = exprKind.value as { operand?: TreeNode; field: string };
    return isMetricMap(operand) ? field : null;
  }
  if (exprKind?.case !== 'callExpr') return null;
  const { function: name, args } = exprKind.value as { function: string; args: TreeNode[] };
  return name === '_[_]' && isMetricMap(args[0]) ? constantText(args[1]) : null;
}

function isMetricMap(node: TreeNode | undefined): boolean {
  if (node?.exprKind?.case !== 'identExpr') return false;
  const { name } = node.exprKind.value as { name: string };
  return name === 'metrics' || name === 'series';
}

function constantText(node: TreeNode | undefined): string | null {
  if (node?.exprKind?.case !== 'constExpr') return null;
  const { constantKind } = node.exprKind.value as { constantKind: { case?: string; value?: unknown } };
  return constantKind.case === 'stringValue' && typeof constantKind.value === 'string' ? constantKind.value : null;
}
