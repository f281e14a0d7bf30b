import type { RolloutRuleInput } from './rollout-rule-input.ts';
import { type Violation, violation } from './violation.ts';

function wholeNumber(field: string, value: number | null, least: number): Violation[] {
  if (value === null || (Number.isInteger(value) && value >= least)) return [];
  const message = `${field} is ${value}: it must be a whole number of at least ${least}.`;
  return [violation('range', `${field}_out_of_range`, field, message)];
}

/** Each number alone. */
function single(input: RolloutRuleInput): Violation[] {
  const { failureThreshold: threshold, healthWaitMs } = input;
  const found = [
    ...wholeNumber('batch_size', input.batchSize, 1),
    ...wholeNumber('max_failures', input.maxFailures, 0),
    ...wholeNumber('min_attempted', input.minAttempted, 1),
    ...wholeNumber('max_in_flight', input.maxInFlight, 1),
  ];
  if (!(threshold >= 0 && threshold <= 1)) {
    const message = `failure_threshold is ${threshold}: it is a share of the attempted nodes, from 0 to 1.`;
    found.push(violation('range', 'failure_threshold_out_of_range', 'failure_threshold', message));
  }
  if (!Number.isFinite(healthWaitMs) || healthWaitMs < 0) {
    const message = 'health_wait_duration must be zero or more.';
    found.push(violation('range', 'health_wait_duration_out_of_range', 'health_wait_duration', message));
  }
  return found;
}

function canarySize({ strategy, canarySize: given, eligibleNodes, order }: RolloutRuleInput): Violation[] {
  if (strategy !== 'canary') return [];
  const size = order.canary_node_ids ? new Set(order.canary_node_ids).size : given;
  const field = order.canary_node_ids ? 'canary_node_ids' : 'canary_size';
  if (size === null) {
    const message = 'The canary strategy needs canary_size: how many nodes go first.';
    return [violation('range', 'canary_size_missing', 'canary_size', message)];
  }
  const alone = wholeNumber('canary_size', size, 1);
  if (alone.length > 0 || eligibleNodes === null || eligibleNodes === 0 || size < eligibleNodes) return alone;
  const message = `${field} is ${size} of ${eligibleNodes} eligible nodes: at least one must be left to protect.`;
  return [violation('range', 'canary_size_covers_all', field, message)];
}

function minAttempted({ minAttempted: least, eligibleNodes }: RolloutRuleInput): Violation[] {
  if (eligibleNodes === null || eligibleNodes === 0 || least <= eligibleNodes) return [];
  const message = `min_attempted is ${least} of ${eligibleNodes} eligible nodes: the failure threshold would never count.`;
  return [violation('range', 'min_attempted_never_reached', 'min_attempted', message)];
}

/**
 * Numbers that make no sense, alone or together: refused at creation, so that no rollout stands still without an error
 * (field-cases 87, 88).
 */
export function numbersMakeSense(input: RolloutRuleInput): Violation[] {
  return [...single(input), ...canarySize(input), ...minAttempted(input)];
}
