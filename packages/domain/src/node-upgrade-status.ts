import type { TransitionTable } from './transition.ts';

/** Status of one node in one rollout, `rollout_nodes.status` (spec "NodeUpgradeStatus"). */
export const NODE_UPGRADE_STATUSES = [
  'pending',
  'in_progress',
  'validating',
  'succeeded',
  'failed',
  'rolled_back',
  'skipped',
] as const;
export type NodeUpgradeStatus = (typeof NODE_UPGRADE_STATUSES)[number];

/** Edges of the spec's diagram and of C10a (a rollback attempt, its success, a retry of what was rolled back). */
export const NODE_UPGRADE_TRANSITIONS: TransitionTable<NodeUpgradeStatus> = {
  pending: ['in_progress', 'skipped'],
  in_progress: ['validating', 'failed', 'rolled_back'],
  validating: ['succeeded', 'failed', 'rolled_back'],
  succeeded: ['in_progress'],
  failed: ['in_progress'],
  rolled_back: ['in_progress'],
  skipped: [],
};

/** An attempt is under way on the node; at most one such row per node, whatever the rollout (C2a). */
export const IN_FLIGHT_NODE_STATUSES = ['in_progress', 'validating'] as const satisfies readonly NodeUpgradeStatus[];

/** Whether an attempt is under way. */
export function isInFlight(status: NodeUpgradeStatus): boolean {
  return (IN_FLIGHT_NODE_STATUSES as readonly NodeUpgradeStatus[]).includes(status);
}

/** Whether the node's attempt has ended, one way or the other. */
export function isEndedNode(status: NodeUpgradeStatus): boolean {
  return status !== 'pending' && !isInFlight(status);
}
