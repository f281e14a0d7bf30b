import type { NodeState } from './node-state.ts';
import type { FleetNodeFacts } from './rollout-snapshot.ts';

/** States of nodes that are no part of the fleet yet, or no more: a budget neither counts nor protects them. */
export const NO_MEMBER_STATES = ['provisioning', 'terminated', 'failed'] as const satisfies readonly NodeState[];

/** States of members that don't serve as they should; the query that counts a budget's nodes uses the same list. */
export const UNAVAILABLE_STATES = [
  'syncing',
  'degraded',
  'down',
  'maintenance',
  'terminating',
] as const satisfies readonly NodeState[];

/** Of these, the ones that serve nothing at all: taking such a node down takes nothing away. */
const DOWN_STATES: readonly NodeState[] = ['down', 'maintenance', 'terminating'];

type Availability = Pick<FleetNodeFacts, 'state' | 'online' | 'busyWithRolloutId'>;

/** Whether the node belongs to the fleet that budgets are about. */
export function isMember({ state }: Pick<FleetNodeFacts, 'state'>): boolean {
  return !(NO_MEMBER_STATES as readonly NodeState[]).includes(state);
}

/**
 * Whether a member counts against a budget although its own rollout has not begun it: another rollout changes it, its agent
 * is silent, or its state says that it does not serve. Ill and catching-up nodes count, since nobody knows that they help.
 */
export function isUnavailable({ state, online, busyWithRolloutId }: Availability): boolean {
  return !online || busyWithRolloutId !== null || (UNAVAILABLE_STATES as readonly NodeState[]).includes(state);
}

/** Whether nothing is lost when the node is stopped. An ill node may still serve, so it needs its place like a healthy one. */
export function isDown({ state, online, busyWithRolloutId }: Availability): boolean {
  return !online || busyWithRolloutId !== null || DOWN_STATES.includes(state);
}
