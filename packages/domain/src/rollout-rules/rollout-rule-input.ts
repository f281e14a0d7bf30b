import type { BatchOrder } from '../batch-order.ts';
import type { MigrationType, RolloutStrategyName } from '../rollout-strategy-name.ts';

/** What a node takes; rules ask this and never which runtime it has. */
export type ArtifactKind = 'file' | 'image';

/** One artifact and the field that names it: `artifacts.linux/amd64`; null: the specification's own fields do. */
export interface RuledArtifact {
  readonly field: string | null;
  readonly url: string;
  readonly checksum: string;
}

/** A rollout that someone wants to create, manifest and defaults filled in. Durations in milliseconds. */
export interface RolloutRuleInput {
  readonly artifactKind: ArtifactKind;
  /** Null in auto mode: each node's recorded version (E5). */
  readonly sourceVersion: string | null;
  readonly targetVersion: string;
  /** What nodes download; one, or one for each platform. */
  readonly artifacts: readonly RuledArtifact[];
  /** How many files `config_changes` names (E6). */
  readonly configChangeCount: number;
  readonly manifestContentHash: string | null;
  readonly migrationType: MigrationType;
  readonly recoveryPlan: string | null;
  readonly acknowledgeStateRisk: boolean;
  /** The chain's active rollout or group, null when it has none; the database's index has the last word. */
  readonly activeRolloutId: string | null;
  readonly strategy: RolloutStrategyName;
  readonly order: BatchOrder;
  readonly batchSize: number;
  /** Null: not given. */
  readonly canarySize: number | null;
  readonly failureThreshold: number;
  readonly maxFailures: number | null;
  readonly minAttempted: number;
  readonly maxInFlight: number | null;
  readonly healthWaitMs: number;
  /** Eligible nodes as known now; null when they are not known yet. */
  readonly eligibleNodes: number | null;
}
