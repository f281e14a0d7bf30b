import type { BatchPlanInput } from './batch-plan.ts';
import { planBatches } from './batch-plan.ts';
import type { ReasonCode } from './reasons.ts';
import type { RolloutDecision } from './rollout-decision.ts';
import type { RolloutFacts, RolloutNodeFacts } from './rollout-snapshot.ts';

/** What becomes of nodes that join, or are heard of again, while a rollout runs (field case 109). */
export const LATE_NODE_POLICIES = ['ignore', 'include'] as const;
export type LateNodePolicy = (typeof LATE_NODE_POLICIES)[number];

const AWAY: readonly ReasonCode[] = ['agent_offline', 'never_joined'];
/** Ends of a rollout that had its way; one that failed, was cancelled or goes back takes nobody any more. */
const ENDS: readonly ReasonCode[] = ['all_nodes_ended', 'no_eligible_targets'];

/** Whether a node that was left out for this reason may be there later. */
export function mayComeLate(code: string | null | undefined): boolean {
  return AWAY.some((away) => away === code);
}

/**
 * Whether the rollout looks for late nodes now: when it would end otherwise, so that they come after all others. One that
 * has ended is never opened again.
 */
export function looksForLateNodes(
  { lateNodes, status, direction }: Pick<RolloutFacts, 'lateNodes' | 'status' | 'direction'>,
  decision: RolloutDecision,
): boolean {
  if (lateNodes !== 'include' || status !== 'running' || direction !== 'upgrade') return false;
  return decision.kind === 'finish' && ENDS.includes(decision.reason.code);
}

/** A node that the rollout is about, as it is now. */
export interface LateCandidate {
  readonly online: boolean;
  /** Null: it came after the rollout's nodes were chosen. `late`: it was picked up before, which happens once. */
  readonly row: (Pick<RolloutNodeFacts, 'status' | 'statusReason'> & { readonly late: boolean }) | null;
}

/** Whether the node is picked up now; whether it may be changed at all is judged at its turn, as for all others. */
export function isLate({ online, row }: LateCandidate): boolean {
  if (!online) return false;
  if (row === null) return true;
  return row.status === 'skipped' && !row.late && mayComeLate(row.statusReason);
}

/**
 * The batches of late nodes: after the last one there was, as large as the rollout's own without its names and ramp. Where there was none, every
 * node was away, and all are planned as at the start, canaries first.
 * @param lastBatch null: the rollout had no batch
 */
export function lateBatches(plan: BatchPlanInput, lastBatch: number | null): Map<string, number> {
  if (lastBatch === null) return planBatches(plan);
  const strategy = plan.strategy === 'all_at_once' ? 'all_at_once' : 'rolling';
  const { batchSize, canarySize, seed, nodes } = plan;
  const own = planBatches({ strategy, batchSize, canarySize, seed, nodes });
  return new Map([...own].map(([nodeId, index]) => [nodeId, lastBatch + 1 + index]));
}
