import type { TransitionTable } from './transition.ts';

/** Life of a rollout (spec "Status Enums"). */
export const ROLLOUT_STATUSES = [
  'pending',
  'running',
  'paused',
  'completed',
  'failed',
  'canceled',
  'rolled_back',
] as const;
export type RolloutStatus = (typeof ROLLOUT_STATUSES)[number];

/** Statuses that keep the chain taken: the partial unique index of the spec. */
export const ACTIVE_ROLLOUT_STATUSES = ['pending', 'running', 'paused'] as const satisfies readonly RolloutStatus[];

/** Which way the nodes go; a rollback is the same rollout with direction `rollback` (C10a). */
export const ROLLOUT_DIRECTIONS = ['upgrade', 'rollback'] as const;
export type RolloutDirection = (typeof ROLLOUT_DIRECTIONS)[number];

/**
 * Edges of the spec's diagram and of C10a. `completed | failed | canceled -> running` and `-> rolled_back`
 * happen for a rollback only; `rolloutEdgeDirection` says which.
 */
export const ROLLOUT_TRANSITIONS: TransitionTable<RolloutStatus> = {
  pending: ['running', 'canceled'],
  running: ['paused', 'completed', 'failed', 'canceled', 'rolled_back'],
  paused: ['running', 'canceled', 'failed'],
  completed: ['running'],
  failed: ['running'],
  canceled: ['running'],
  rolled_back: [],
};

/** Whether a rollout in this status is over, unless a rollback opens it again. */
export function isEndedRollout(status: RolloutStatus): boolean {
  return !(ACTIVE_ROLLOUT_STATUSES as readonly RolloutStatus[]).includes(status);
}
