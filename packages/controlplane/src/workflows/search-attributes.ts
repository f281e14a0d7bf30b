import type { SearchAttributePair } from '@temporalio/common';

/** The attempt's name (A5), by which everything about it is found. */
export const CORRELATION_ID = { name: 'CorrelationID', type: 'KEYWORD' } as const;

const keyword = (name: string, value: string): SearchAttributePair => ({ key: { name, type: 'KEYWORD' }, value });

/** Search attributes of `UpgradeNodeWorkflow` (spec); the correlation id is the attempt's name (A5). */
export function nodeSearchAttributes(node: {
  readonly rolloutId: string;
  readonly nodeId: string;
  readonly attemptId: string;
}): SearchAttributePair[] {
  return [
    keyword('NodeID', node.nodeId),
    keyword('RolloutID', node.rolloutId),
    { key: CORRELATION_ID, value: node.attemptId },
  ];
}

/** Search attributes of `RolloutWorkflow` (spec). */
export function rolloutSearchAttributes(rollout: {
  readonly id: string;
  readonly chain_profile_id: string;
  readonly strategy: string;
  readonly group_id: string | null;
}): SearchAttributePair[] {
  return [
    keyword('RolloutID', rollout.id),
    keyword('ChainProfileID', rollout.chain_profile_id),
    keyword('Strategy', rollout.strategy),
    ...(rollout.group_id === null ? [] : [keyword('GroupID', rollout.group_id)]),
  ];
}

/** Search attributes of `RolloutGroupWorkflow` (spec). */
export function groupSearchAttributes(group: {
  readonly id: string;
  readonly chain_profile_id: string;
}): SearchAttributePair[] {
  return [keyword('GroupID', group.id), keyword('ChainProfileID', group.chain_profile_id)];
}
