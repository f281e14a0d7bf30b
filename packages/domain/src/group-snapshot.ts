import type { NodeState } from './node-state.ts';
import type { Reason } from './reasons.ts';
import type { RolloutGroupControl } from './rollout-group-control.ts';
import type { FailurePolicy, RolloutGroupStatus } from './rollout-group-status.ts';
import type { RolloutDirection, RolloutStatus } from './rollout-status.ts';

/** Everything `decideGroup` may know (C7a). Times are epoch milliseconds, durations milliseconds. */
export interface GroupSnapshot {
  readonly group: GroupFacts;
  /** In their order. */
  readonly components: readonly GroupComponentFacts[];
  /** All controls of the group, oldest first. */
  readonly controls: readonly RolloutGroupControl[];
}

export interface GroupFacts {
  readonly id: string;
  readonly status: RolloutGroupStatus;
  readonly statusReason: Reason | null;
  readonly statusChangedAt: number;
  readonly direction: RolloutDirection;
  /** When the group last turned round; null when it never did. */
  readonly rollbackBeganAt: number | null;
  readonly failurePolicy: FailurePolicy;
  /** How long the gate after a component waits for its nodes before the component counts as failed. */
  readonly gateTimeoutMs: number;
}

export interface GroupComponentFacts {
  readonly index: number;
  readonly binaryName: string;
  /** Null until its turn comes (C2). */
  readonly rollout: ComponentRolloutFacts | null;
  /** Nodes that its rollout upgraded; what the gate looks at. Empty while nobody asks. */
  readonly gateNodes: readonly GateNodeFacts[];
}

export interface ComponentRolloutFacts {
  readonly id: string;
  readonly status: RolloutStatus;
  /** The sentence of its status, for people. */
  readonly why: string;
  readonly statusChangedAt: number;
  readonly direction: RolloutDirection;
  readonly succeededNodes: number;
  /** When a pause was ordered that is not in its status yet; null when none was. */
  readonly pauseOrderedAt: number | null;
  /** It is paused and a resume was ordered since. */
  readonly resumeOrdered: boolean;
  /** A cancel was ordered and it has not ended yet. */
  readonly cancelOrdered: boolean;
  /** A rollback was ordered that has not begun. */
  readonly rollbackOrdered: boolean;
  /** A newer rollout that has changed its nodes; null when none has (C3). */
  readonly newerRolloutId: string | null;
}

export interface GateNodeFacts {
  readonly nodeId: string;
  readonly state: NodeState;
  readonly online: boolean;
  readonly lastHeartbeatAt: number | null;
  readonly quarantined: boolean;
  /** The last heartbeat shows the component running what the rollout installed. */
  readonly runsTarget: boolean;
  /** An operator had stopped it before, so nobody expects it to run (A3). */
  readonly leftStopped: boolean;
}

/** Whether a group in this status is over, unless a rollback opens it again. */
export function isEndedGroup(status: RolloutGroupStatus): boolean {
  return status !== 'pending' && status !== 'running' && status !== 'paused';
}
