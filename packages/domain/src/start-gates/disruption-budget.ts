import { isDown, isMember, isUnavailable } from '../availability.ts';
import { type BudgetFacts, budgetGroupOf, budgetLimit } from '../disruption-budget-facts.ts';
import { reason } from '../reasons.ts';
import type { FleetNodeFacts } from '../rollout-snapshot.ts';
import { type GateContext, type Hold, OPEN, type StartGate, wait } from './start-gate.ts';

/** Other rollouts' nodes give places back without waking this one, so it looks again by itself. */
const ASK_AGAIN_MS = 10_000;
/** So many nodes are named; people read no more. */
const MOST_NAMES = 5;

/**
 * Never more unavailable nodes than a budget allows, across all rollouts and chains, on the way back and for retries too
 * (field-cases 101 and 102). A node that is down counts already, so it may start. What this answers is an offer: the place is
 * taken when the attempt begins, where the gate is asked once more under the budget's lock.
 */
export const disruptionBudget: StartGate = ({ row }, context) => {
  const { snapshot } = context;
  const node = snapshot.fleet.get(row.nodeId);
  if (!node || !isMember(node) || isDown(node)) return OPEN;
  return wait(...snapshot.budgets.flatMap((budget) => holdOf(budget, node, context)));
};

function holdOf(budget: BudgetFacts, node: FleetNodeFacts, context: GateContext): Hold[] {
  const value = budgetGroupOf(budget, node);
  const group = value === null ? undefined : budget.groups.get(value);
  if (value === null || group === undefined) return [];
  const { count, how } = budgetLimit(budget.maxUnavailable, group.members);
  const starting = startingIn(budget, value, context, node.nodeId);
  const itself = isUnavailable(node) ? 0 : 1;
  if (group.unavailable + starting.length + itself <= count) return [];
  const who = [...group.names, ...starting].filter((name) => name !== node.name);
  return [
    {
      reason: reason('disruption_budget_reached', {
        budget: budget.name,
        where: budget.per === null ? '' : ` (${budget.per} ${value})`,
        limit: count,
        members: group.members,
        how,
        down: group.unavailable + starting.length,
        who: named(who, group.unavailable + starting.length - (1 - itself)),
      }),
      until: context.now + ASK_AGAIN_MS,
      rule: { name: `disruption_budget/${budget.name}`, persons: 1 },
      part: value,
    },
  ];
}

/** Names of nodes of the group that are about to start and don't count yet. */
function startingIn(budget: BudgetFacts, value: string, context: GateContext, candidate: string): string[] {
  const names: string[] = [];
  const { fleet } = context.snapshot;
  for (const id of [...context.offered.map(({ nodeId }) => nodeId), ...context.chosen]) {
    const other = id === candidate ? undefined : fleet.get(id);
    if (!other || !isMember(other) || isUnavailable(other)) continue;
    if (budgetGroupOf(budget, other) === value) names.push(other.name);
  }
  return names;
}

/** Some of them by name, and how many more there are. */
function named(names: readonly string[], count: number): string {
  const shown = names.slice(0, MOST_NAMES);
  const more = count - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
