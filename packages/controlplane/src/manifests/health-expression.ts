import { celEnv, isCelError, parse, plan } from '@bufbuild/cel';

/** One series of a metric as the agent sent it. */
export interface MetricSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Metrics of one component by name; a metric that was not there is absent. */
export type MetricValues = Readonly<Record<string, readonly MetricSeries[]>>;

/** A chain's CEL expression, checked and ready (D0a). */
export interface HealthExpression {
  readonly text: string;
  /** Names of the metrics it reads: what the agent is asked to send. */
  readonly metricNames: readonly string[];
  /** null: it can't be told, because a metric is absent or the types don't fit; that never counts as true (D4b). */
  evaluate(metrics: MetricValues): boolean | null;
}

/** The expression can't be used; the message says why. */
export class HealthExpressionError extends Error {
  readonly code = 'health_expression';
}

/**
 * Variables of an expression. `metrics.NAME` is the value of a metric with exactly one series; one with several has no
 * single value and is absent there. `series.NAME` is the list of all its series, each with `labels` and `value`.
 */
const VARIABLES = ['metrics', 'series'] as const;
const ENVIRONMENT = celEnv();

/**
 * Parses an expression and refuses names that no metric can have.
 * @throws HealthExpressionError
 */
export function compileHealthExpression(text: string): HealthExpression {
  const { evaluate, ...compiled } = compileExpression(text);
  return {
    ...compiled,
    evaluate: (metrics) => {
      const result = evaluate(metrics);
      return typeof result === 'boolean' ? result : null;
    },
  };
}

/** A chain's CEL expression of a number. */
export interface NumberExpression extends Omit<HealthExpression, 'evaluate'> {
  /** null: it can't be told, or is no finite number. */
  evaluate(metrics: MetricValues): number | null;
}

/** The same for an expression of a number. @throws HealthExpressionError */
export function compileNumberExpression(text: string): NumberExpression {
  const { evaluate, ...compiled } = compileExpression(text);
  return {
    ...compiled,
    evaluate: (metrics) => {
      const result = evaluate(metrics);
      const value = typeof result === 'bigint' ? Number(result) : result;
      return typeof value === 'number' && Number.isFinite(value) ? value : null;
    },
  };
}

interface Compiled extends Omit<HealthExpression, 'evaluate'> {
  /** null: an error, such as a metric that is absent. */
  evaluate(metrics: MetricValues): unknown;
}

function compileExpression(text: string): Compiled {
  const ast = parseExpression(text);
  const evaluatePlanned = plan(ENVIRONMENT, ast);
  const found = readNames(ast.expr);
  const unknown = [...found.identifiers].filter((name) => !(VARIABLES as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw new HealthExpressionError(
      `unknown name "${unknown[0]}": an expression reads metrics.NAME or series.NAME, e.g. metrics.up == 1`,
    );
  }
  return {
    text,
    metricNames: [...found.metrics].sort(),
    evaluate: (metrics) => {
      const result = evaluatePlanned({ metrics: singleValues(metrics), series: metrics as never });
      return isCelError(result) ? null : result;
    },
  };
}

function parseExpression(text: string) {
  try {
    return parse(text);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new HealthExpressionError(`not a CEL expression: ${cause.split('\n')[0]}`, { cause: error });
  }
}

function singleValues(metrics: MetricValues): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [name, [first, ...others]] of Object.entries(metrics)) {
    if (first && others.length === 0) values[name] = first.value;
  }
  return values;
}

interface Names {
  readonly identifiers: Set<string>;
  readonly metrics: Set<string>;
}

/** Every free name and every metric that a syntax tree mentions. */
function readNames(ast: unknown): Names {
  const names: Names = { identifiers: new Set(), metrics: new Set() };
  visit(ast, new Set(), names);
  return names;
}

interface AstNode {
  readonly exprKind?: { readonly case?: string; readonly value?: Record<string, unknown> };
}

function visit(node: unknown, bound: ReadonlySet<string>, names: Names): void {
  if (Array.isArray(node)) {
    for (const item of node) visit(item, bound, names);
    return;
  }
  if (node === null || typeof node !== 'object') return;
  const { exprKind } = node as AstNode;
  const value = exprKind?.value ?? {};
  if (exprKind?.case === 'identExpr') {
    const name = String(value.name);
    if (!bound.has(name)) names.identifiers.add(name);
    return;
  }
  const metric = metricOf(exprKind);
  if (metric !== null) names.metrics.add(metric);
  const inner =
    exprKind?.case === 'comprehensionExpr' ? new Set([...bound, String(value.iterVar), String(value.accuVar)]) : bound;
  for (const child of Object.values(exprKind ? value : node)) visit(child, inner, names);
}

/** NAME of `metrics.NAME`, `has(metrics.NAME)` and `metrics["NAME"]`, and the same of `series`. */
function metricOf(exprKind: AstNode['exprKind']): string | null {
  const value = exprKind?.value;
  if (exprKind?.case === 'selectExpr' && isVariable(value?.operand)) return String(value?.field);
  if (exprKind?.case !== 'callExpr' || value?.function !== '_[_]' || !Array.isArray(value.args)) return null;
  const [operand, index] = value.args as AstNode[];
  const constant = index?.exprKind?.value?.constantKind as { case?: string; value?: unknown } | undefined;
  return isVariable(operand) && constant?.case === 'stringValue' ? String(constant.value) : null;
}

function isVariable(node: unknown): boolean {
  const kind = (node as AstNode | undefined)?.exprKind;
  return kind?.case === 'identExpr' && (VARIABLES as readonly unknown[]).includes(kind.value?.name);
}
