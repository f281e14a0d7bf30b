import type { Reason } from '@hoodcloud/domain/reasons';
import type { NodeToRun } from '@hoodcloud/domain/rollout-decision';
import type { RolloutGroupStatus } from '@hoodcloud/domain/rollout-group-status';
import type { RolloutDirection, RolloutStatus } from '@hoodcloud/domain/rollout-status';

/** Signals a person may send; `wake` tells nothing but "ask again" (C7a). */
export type ControlSignal = 'pause' | 'resume' | 'cancel' | 'force' | 'approve_canary';

/** A control signal that was sent by hand, without a row; the next question stores it under this id (C7a). */
export interface ControlByHand {
  readonly id: string;
  readonly kind: ControlSignal;
}

/** A node to start: its attempt, and the attempt's name for the search attribute. */
export interface NodeOffer extends NodeToRun {
  readonly attemptId: string;
}

/** What `UpdateRolloutProgress` tells the workflow to do (C7a). Times are epoch milliseconds of the database's clock. */
export type RolloutAnswer =
  | { readonly kind: 'resolve_targets' }
  | { readonly kind: 'run'; readonly nodes: readonly NodeOffer[] }
  /** @property gatherMs after a wake-up, so long until the next question: the ends of many nodes make one question */
  | { readonly kind: 'wait'; readonly forMs: number | null; readonly gatherMs: number }
  | { readonly kind: 'roll_back'; readonly reason: Reason }
  | { readonly kind: 'finish'; readonly status: RolloutStatus; readonly reason: Reason };

export interface RolloutRef {
  readonly rolloutId: string;
}

/** Activities of `RolloutWorkflow` (spec "Processing flow"); all are idempotent by the rollout's rows. */
export interface RolloutActivities {
  ResolveRolloutTargets(input: RolloutRef): Promise<void>;
  UpdateRolloutProgress(
    input: RolloutRef & { readonly controlsByHand: readonly ControlByHand[] },
  ): Promise<RolloutAnswer>;
  BeginRollback(input: RolloutRef & { readonly reason: Reason }): Promise<void>;
  /** @returns false when the rollout has moved on since it was asked: ask again */
  FinalizeRollout(
    input: RolloutRef & { readonly status: RolloutStatus; readonly reason: Reason },
  ): Promise<{ readonly final: boolean }>;
}

/** Signals of `RolloutGroupWorkflow` that a person may send (spec). */
export type GroupControlSignal = 'pause' | 'resume' | 'cancel' | 'rollback' | 'skip';

/** A group's control signal that was sent by hand, without a row (C7a). */
export interface GroupControlByHand {
  readonly id: string;
  readonly kind: GroupControlSignal;
}

/** A component's rollout whose row was inserted: its workflow is to be started. */
export interface ComponentStart {
  readonly id: string;
  readonly chain_profile_id: string;
  readonly strategy: string;
  readonly group_id: string;
}

/** What `UpdateGroupProgress` tells the workflow to do; everything else it has done in rows already. */
export type GroupAnswer =
  | { readonly kind: 'start_component'; readonly rollout: ComponentStart }
  | { readonly kind: 'wait'; readonly forMs: number | null }
  | { readonly kind: 'finish'; readonly status: RolloutGroupStatus };

/** The one activity of `RolloutGroupWorkflow`; idempotent by the group's rows. */
export interface GroupActivities {
  UpdateGroupProgress(input: {
    readonly groupId: string;
    readonly controlsByHand: readonly GroupControlByHand[];
  }): Promise<GroupAnswer>;
}

/** One attempt on one node; every activity of `UpgradeNodeWorkflow` is idempotent by it. */
export interface AttemptRef {
  readonly rolloutId: string;
  readonly nodeId: string;
  readonly attempt: number;
}

export type PreCheck =
  /** The row does not wait for this attempt, or the node may not be changed: nothing to do. */
  | { readonly kind: 'nothing_to_do' }
  | { readonly kind: 'go'; readonly direction: RolloutDirection; readonly attemptId: string };

/** A command row as the workflow needs it; rendered configs stay in Postgres (C12). */
export interface SentCommand {
  readonly commandId: string;
  /** Until the command's deadline and a margin, so that the row always decides first (B5). */
  readonly scheduleToCloseMs: number;
  readonly heartbeatTimeoutMs: number;
  /** Of a confirmation that runs steps of the vendor: its end decides. Absent in histories of earlier builds. */
  readonly isAwaited?: boolean;
}

/** How the agent's part ended; the details are in the row. */
export type CommandEnd = 'completed' | 'not_completed';

/** What follows the agent's success: a proof of health, or none. */
export type NextProof =
  | { readonly kind: 'validate'; readonly validationId: string; readonly scheduleToCloseMs: number }
  | { readonly kind: 'skip'; readonly why: 'skip_validation' | 'left_stopped' };

export type ValidationEnd = 'passed' | 'failed';

/** Activities of `UpgradeNodeWorkflow` (spec). */
export interface NodeActivities {
  PreCheckNode(input: AttemptRef): Promise<PreCheck>;
  UpdateNodeState(input: AttemptRef & { readonly to: 'maintenance' | 'syncing' | 'prior' }): Promise<void>;
  SendUpgradeCommand(
    input: AttemptRef & { readonly operation: 'UPGRADE' | 'COMPENSATE' | 'CONFIRM' },
  ): Promise<SentCommand>;
  WaitForCommandCompletion(input: { readonly commandId: string }): Promise<CommandEnd>;
  UpdateNodeBinaryVersion(input: AttemptRef): Promise<NextProof>;
  WaitForHealthValidation(input: { readonly validationId: string }): Promise<ValidationEnd>;
  MarkNodeUpgradeSucceeded(input: AttemptRef): Promise<void>;
  /** @param input.error why the control plane itself could not go on; otherwise the rows say what failed */
  MarkNodeUpgradeFailed(input: AttemptRef & { readonly error?: string }): Promise<void>;
}
