import { covers, type PolicyScope, type ScopedNode } from './policy-scope.ts';

/** A disruption budget that stands, counted over the whole fleet at the moment of the question. */
export interface BudgetFacts {
  readonly name: string;
  readonly scope: PolicyScope;
  /** The label whose every value has a budget of its own; null: one budget for the whole scope. */
  readonly per: string | null;
  /** A count, or a percentage of the members such as `25%`. */
  readonly maxUnavailable: number | string;
  /** By value of `per`; the key is '' when there is no `per`. A group that nobody is in is left out. */
  readonly groups: ReadonlyMap<string, BudgetGroup>;
}

/** The nodes that share a budget. */
export interface BudgetGroup {
  readonly members: number;
  /** Members that count already, this rollout's nodes in flight included (`isUnavailable`). */
  readonly unavailable: number;
  /** Names of some of them, for people. */
  readonly names: readonly string[];
}

/** How many members may be unavailable at once. */
export interface BudgetLimit {
  readonly count: number;
  /** How the count came about, as a part of a sentence; empty when it was given as a count. */
  readonly how: string;
}

/** A percentage rounds down and never below 1, which is said: a budget of nothing would stop every rollout in silence. */
export function budgetLimit(maxUnavailable: number | string, members: number): BudgetLimit {
  if (typeof maxUnavailable === 'number') return { count: maxUnavailable, how: '' };
  const share = Math.floor((members * Number.parseInt(maxUnavailable, 10)) / 100);
  if (share >= 1) return { count: share, how: ` (${maxUnavailable}, rounded down)` };
  return { count: 1, how: ` (${maxUnavailable} is less than one node, so the least limit of 1 holds)` };
}

/** The group of a budget that the node belongs to; null when the budget is not for it. */
export function budgetGroupOf({ scope, per }: Pick<BudgetFacts, 'scope' | 'per'>, node: ScopedNode): string | null {
  if (!covers(scope, node)) return null;
  return per === null ? '' : (node.labels[per] ?? null);
}
