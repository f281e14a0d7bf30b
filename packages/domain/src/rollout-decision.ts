import type { Reason } from './reasons.ts';
import type { RolloutStatus } from './rollout-status.ts';

/** The workflow starts at most so many children per answer, then continues as new (C7). */
export const MAX_NODES_PER_ANSWER = 500;

/** An offer that nobody took is made again after this time (C7). */
export const OFFER_AGAIN_AFTER_MS = 30_000;

export interface NodeToRun {
  readonly nodeId: string;
  readonly attempt: number;
}

/** What a rollout does next. `status` is the status its row should have; the caller writes it when it differs. */
export type RolloutDecision =
  | {
      readonly kind: 'run';
      readonly status: RolloutStatus;
      readonly nodes: readonly NodeToRun[];
      readonly reasons: readonly Reason[];
    }
  | {
      readonly kind: 'wait';
      readonly status: RolloutStatus;
      readonly until: number | null;
      readonly reasons: readonly Reason[];
    }
  | { readonly kind: 'pause'; readonly status: 'paused'; readonly reason: Reason; readonly reasons: readonly Reason[] }
  | { readonly kind: 'roll_back'; readonly reason: Reason }
  | { readonly kind: 'finish'; readonly status: RolloutStatus; readonly reason: Reason };
