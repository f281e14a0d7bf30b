import type { TransitionTable } from './transition.ts';

/** Life of a rollout group: a rollout's statuses and `partial` (spec "Status Enums"). */
export const ROLLOUT_GROUP_STATUSES = [
  'pending',
  'running',
  'paused',
  'completed',
  'failed',
  'canceled',
  'rolled_back',
  'partial',
] as const;
export type RolloutGroupStatus = (typeof ROLLOUT_GROUP_STATUSES)[number];

export const ROLLOUT_GROUP_TRANSITIONS: TransitionTable<RolloutGroupStatus> = {
  pending: ['running', 'canceled'],
  running: ['paused', 'completed', 'failed', 'canceled', 'rolled_back', 'partial'],
  paused: ['running', 'canceled', 'failed'],
  completed: ['running'],
  failed: ['running'],
  canceled: ['running'],
  partial: ['running'],
  rolled_back: [],
};

/** What happens to a group when one of its components fails (spec "RolloutGroupWorkflow"). */
export const FAILURE_POLICIES = ['partial_ok', 'rollback_all', 'manual'] as const;
export type FailurePolicy = (typeof FAILURE_POLICIES)[number];
