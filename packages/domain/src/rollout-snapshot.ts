import type { NodeState } from './node-state.ts';
import type { NodeUpgradeStatus } from './node-upgrade-status.ts';
import type { RolloutControl } from './rollout-control.ts';
import type { FailurePolicy } from './rollout-group-status.ts';
import type { RolloutDirection, RolloutStatus } from './rollout-status.ts';
import type { MigrationType, RolloutStrategyName } from './rollout-strategy-name.ts';
import type { UpgradePhase } from './upgrade-phase.ts';

/** Everything `decideNext` may know (C7a). Times are epoch milliseconds, durations milliseconds. */
export interface RolloutSnapshot {
  readonly rollout: RolloutFacts;
  readonly nodes: readonly RolloutNodeFacts[];
  /** All controls of the rollout, oldest first. */
  readonly controls: readonly RolloutControl[];
  readonly chain: ChainFacts;
  /** By node id; a node that is missing here is unknown to the fleet and counts as offline. */
  readonly fleet: ReadonlyMap<string, FleetNodeFacts>;
}

export interface RolloutFacts {
  readonly id: string;
  readonly status: RolloutStatus;
  /** Code of the reason of the status (`ReasonCode`), null when none was recorded. */
  readonly statusReason: string | null;
  readonly statusChangedAt: number;
  readonly direction: RolloutDirection;
  readonly strategy: RolloutStrategyName;
  readonly batchSize: number;
  readonly canarySize: number;
  /** Share of attempted nodes that may fail, 0..1 (C5). */
  readonly failureThreshold: number;
  readonly maxFailures: number | null;
  readonly minAttempted: number;
  readonly maxInFlight: number | null;
  readonly healthWaitMs: number;
  readonly forceContinue: boolean;
  readonly migrationType: MigrationType;
  /** The creator, when somebody else must approve the canaries; null or left out: anybody may. */
  readonly approvalBarredFor?: string | null;
  /** What to do with a node that is offline at its turn: leave it out (default) or wait for it. */
  readonly offlinePolicy: 'skip' | 'wait';
  /** False until `ResolveRolloutTargets` has written the nodes' batches. */
  readonly targetsResolved: boolean;
  /** Policy of the group the rollout is part of; null or left out: it stands alone. */
  readonly groupFailurePolicy?: FailurePolicy | null;
}

export interface RolloutNodeFacts {
  readonly nodeId: string;
  readonly batchIndex: number;
  readonly status: NodeUpgradeStatus;
  /** Code of the reason of the status; tells `already_at_target` from other skips. Unknown when left out. */
  readonly statusReason?: string | null;
  readonly phase: UpgradePhase | null;
  /** Attempts begun so far. */
  readonly attemptCount: number;
  /** Number of the attempt that is wanted; greater than `attemptCount` while a child should be started for it. */
  readonly requestedAttempt: number;
  /** Which way its latest, or its wanted, attempt goes. */
  readonly attemptDirection: RolloutDirection;
  /** When this attempt was last offered to the workflow and by nobody taken; null when it never was. */
  readonly offeredAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** How long the last successful upgrade attempt took; orders a rollback, fastest first (C3). */
  readonly durationMs: number | null;
}

export interface FleetNodeFacts {
  readonly nodeId: string;
  readonly state: NodeState;
  readonly online: boolean;
  /** Last heartbeat by the server's clock; null when none ever came. */
  readonly lastHeartbeatAt: number | null;
  /** A cloned identity was seen (B3). */
  readonly quarantined: boolean;
  /** Another rollout's attempt is in flight on the node (C2a). */
  readonly busyWithRolloutId: string | null;
}

export interface ChainFacts {
  readonly chainProfileId: string;
  /** Best height over the fleet; null when no node reports one. */
  readonly bestHeight: number | null;
  /** When the best height last grew; null when unknown. */
  readonly heightGrewAt: number | null;
  /** The chain's longest normal pause between blocks; null: the chain has no such check. */
  readonly maxBlockIntervalMs: number | null;
}
