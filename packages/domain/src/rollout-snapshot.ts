import type { BudgetFacts } from './disruption-budget-facts.ts';
import type { FailureClass, FailureClassLimits } from './failure-class.ts';
import type { LateNodePolicy } from './late-nodes.ts';
import type { NodeDuty } from './node-duty.ts';
import type { NodeHold } from './node-hold.ts';
import type { NodeState } from './node-state.ts';
import type { NodeUpgradeStatus } from './node-upgrade-status.ts';
import type { PolicyScope, ScopedNode } from './policy-scope.ts';
import type { QuorumFacts } from './quorum-facts.ts';
import type { RolloutControl } from './rollout-control.ts';
import type { FailurePolicy } from './rollout-group-status.ts';
import type { RolloutDirection, RolloutStatus } from './rollout-status.ts';
import type { MigrationType, RolloutStrategyName } from './rollout-strategy-name.ts';
import type { RuleOverride } from './rule-override.ts';
import type { ActivationMode, StageState } from './staging.ts';
import type { TrustFacts } from './trust/trust-rules.ts';
import type { UpgradePhase } from './upgrade-phase.ts';
import type { WeeklyWindow } from './weekly-window.ts';

/** Everything `decideNext` may know (C7a). Times are epoch milliseconds, durations milliseconds. */
export interface RolloutSnapshot {
  readonly rollout: RolloutFacts;
  readonly nodes: readonly RolloutNodeFacts[];
  /** All controls of the rollout, oldest first. */
  readonly controls: readonly RolloutControl[];
  readonly chain: ChainFacts;
  /** By node id; a node that is missing here is unknown to the fleet and counts as offline. */
  readonly fleet: ReadonlyMap<string, FleetNodeFacts>;
  /** Rules that people set aside for this rollout, those that have expired included. */
  readonly overrides: readonly RuleOverride[];
  /** What is installed and what its chain demands of it; null or left out: its chain demands nothing. */
  readonly trust?: TrustFacts | null;
  /** Every maintenance window that stands; each says which nodes it is for. */
  readonly windows: readonly NamedRule<MaintenanceWindowSpec>[];
  /** Every freeze that stands, those that are over or not begun included. */
  readonly freezes: readonly NamedRule<FreezeSpec>[];
  /** Disruption budgets that are for some node of the chain. */
  readonly budgets: readonly BudgetFacts[];
  /** Null: the chain's profile says nothing of a quorum. */
  readonly quorum: QuorumFacts | null;
}

/** A policy as its gate reads it. */
export interface NamedRule<Spec> {
  readonly name: string;
  readonly spec: Spec;
}

/** Nodes of the scope start only while the window is open. */
export interface MaintenanceWindowSpec extends WeeklyWindow {
  readonly scope: PolicyScope;
}

/** No node of the scope starts from a time to another, both RFC 3339; `to` is outside. */
export interface FreezeSpec {
  readonly scope: PolicyScope;
  readonly from: string;
  readonly to: string;
  /** Why, as those who wait read it. */
  readonly reason: string;
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
  /** How many failures of each class it bears; null or left out: they are not told apart (C5). */
  readonly failureClasses?: FailureClassLimits | null;
  readonly healthWaitMs: number;
  readonly forceContinue: boolean;
  readonly migrationType: MigrationType;
  /** The creator, when somebody else must approve the canaries; null or left out: anybody may. */
  readonly approvalBarredFor?: string | null;
  /** What to do with a node that is offline at its turn: leave it out (default) or wait for it. */
  readonly offlinePolicy: 'skip' | 'wait';
  /** What becomes of nodes that come while it runs; left out: they are ignored. */
  readonly lateNodes?: LateNodePolicy | undefined;
  /** No node starts before its chain is at this height; null or left out: none was given. */
  readonly startAtHeight?: number | null;
  /** No node starts before this time; null or left out: none was given. */
  readonly startAt?: number | null;
  /** The rollout's own windows, one of which must be open; null or left out: it has none. */
  readonly windows?: readonly WeeklyWindow[] | null;
  /** Who swaps at the height: the rollout's order, or each agent by itself; left out: the rollout. */
  readonly activation?: ActivationMode;
  /** Nodes make ready ahead what needs no stop, all at once; left out: they do it at their turn. */
  readonly stage?: boolean;
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
  /** Of a failure; null or left out: unknown. */
  readonly failureClass?: FailureClass | null;
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
  /** What its agent said last of being ready ahead; null or left out: it was told nothing. */
  readonly stageState?: StageState | null;
  /** How long the last successful upgrade attempt took; orders a rollback, fastest first (C3). */
  readonly durationMs: number | null;
}

export interface FleetNodeFacts extends ScopedNode {
  readonly nodeId: string;
  readonly name: string;
  readonly state: NodeState;
  readonly online: boolean;
  /** Last heartbeat by the server's clock; null when none ever came. */
  readonly lastHeartbeatAt: number | null;
  /** A cloned identity was seen (B3). */
  readonly quarantined: boolean;
  /** Another rollout's attempt is in flight on the node (C2a). */
  readonly busyWithRolloutId: string | null;
  /** What a person holds it with, expired or not; null or left out: nobody ever did, or it was released. */
  readonly hold?: NodeHold | null;
  /** Of its chain, by its latest heartbeat; left out: the chain has none. */
  readonly duties?: readonly NodeDuty[];
  /** What it votes with in its chain; null or left out: nobody knows, or it does not vote. */
  readonly votingPower?: bigint | null;
}

export interface ChainFacts {
  readonly chainProfileId: string;
  /** Best height over the fleet; null when no node reports one. */
  readonly bestHeight: number | null;
  /** When the best height last grew; null when unknown. */
  readonly heightGrewAt: number | null;
  /** The chain's longest normal pause between blocks; null: the chain has no such check. */
  readonly maxBlockIntervalMs: number | null;
  /** Average time between blocks as the fleet saw it, in milliseconds; null or left out: not known yet. */
  readonly blockIntervalMs?: number | null;
}
