import type { DecisionContext } from '../decision-context.ts';
import type { Reason } from '../reasons.ts';

/** Whether the batch may begin: `go`, `wait` (by itself or for a person), or `stop` (the rollout pauses). */
export type BatchVerdict =
  | { readonly kind: 'go' }
  | { readonly kind: 'wait'; readonly reasons: readonly Reason[]; readonly until: number | null }
  | { readonly kind: 'stop'; readonly reason: Reason };

export const GO: BatchVerdict = { kind: 'go' };

/** What distinguishes a strategy from the others (spec "Rollout Strategies"). */
export interface RolloutStrategy {
  /** Whether the first batch is one of canaries. */
  readonly hasCanaries: boolean;
  /** Whether every node goes in the one batch there is. */
  readonly inOneBatch: boolean;
  /** Whether the order is drawn by the rollout's seed (canaries are random) or is simply that of the ids. */
  readonly shuffled: boolean;
  /** Whether rows of `batchIndex` may start; asked when every row of the batches before has ended. */
  readonly beforeBatch: (context: DecisionContext, batchIndex: number) => BatchVerdict;
  /** Whether a halted chain keeps further nodes from being stopped (D4a). */
  readonly stopsOnHaltedChain: boolean;
}
