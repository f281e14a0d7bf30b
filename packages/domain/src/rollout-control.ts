import type { RolloutStatus } from './rollout-status.ts';

/** What a person can order for a rollout (C6): rows of `rollout_controls`. The signal names of the spec and the endpoints of C1. */
export const ROLLOUT_CONTROLS = [
  'start',
  'pause',
  'resume',
  'cancel',
  'force',
  'approve_canary',
  'rollback',
  'retry',
  'skip',
] as const;
export type RolloutControlKind = (typeof ROLLOUT_CONTROLS)[number];

/** One stored control, oldest first in a snapshot. Times are epoch milliseconds. */
export interface RolloutControl {
  readonly id: string;
  readonly kind: RolloutControlKind;
  readonly actor: string;
  readonly reason: string | null;
  readonly createdAt: number;
  /** `retry` and `skip` name a node; null for the others. */
  readonly nodeId: string | null;
  /** `resume` acknowledges the failures seen so far (C5): the count when it was ordered. */
  readonly failuresAcknowledged: number | null;
}

/** Statuses in which each control is legal (C3, C6, C8); what a row's details add is in `control-verdict.ts`. */
export const CONTROL_LEGAL_IN: Readonly<Record<RolloutControlKind, readonly RolloutStatus[]>> = {
  start: ['pending'],
  pause: ['running'],
  resume: ['running', 'paused'],
  cancel: ['pending', 'running', 'paused'],
  force: ['pending', 'running', 'paused'],
  approve_canary: ['running', 'paused'],
  rollback: ['running', 'paused', 'completed', 'failed', 'canceled'],
  retry: ['running', 'paused', 'completed', 'failed', 'rolled_back'],
  skip: ['pending', 'running', 'paused'],
};
