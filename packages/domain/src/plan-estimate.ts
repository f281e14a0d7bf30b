import { OBSERVATION_FACTOR } from './rollout-strategy/canary.ts';
import type { RolloutStrategyName } from './rollout-strategy-name.ts';

/** What succeeded upgrades of the same binary on the same chain took, in milliseconds. */
export interface PastUpgrades {
  readonly upgrades: number;
  /** Median from the start to the proof of health, without the time that a node was watched. */
  readonly workMs: number;
  /** Median between the stop of the old and the start of the new version; null when none was measured. */
  readonly downtimeMs: number | null;
}

export interface EstimateInput {
  readonly strategy: RolloutStrategyName;
  /** Nodes of each batch, in order. */
  readonly batchSizes: readonly number[];
  readonly maxInFlight: number | null;
  readonly healthWaitMs: number;
  readonly skipValidation: boolean;
  readonly past: PastUpgrades;
}

export interface Estimate {
  /** One node, its health proof included. */
  readonly nodeMs: number;
  /** The whole rollout while nobody pauses it and nothing fails; what people take to approve is not in it. */
  readonly rolloutMs: number;
}

/** How long a rollout takes when its nodes take as long as earlier ones did: a median, no promise. */
export function estimateRollout(input: EstimateInput): Estimate {
  const { batchSizes, maxInFlight, healthWaitMs, skipValidation, strategy, past } = input;
  const nodeMs = past.workMs + (skipValidation ? 0 : healthWaitMs);
  const waves = batchSizes.reduce((sum, size) => sum + Math.ceil(size / Math.min(size, maxInFlight ?? size)), 0);
  const watched = strategy === 'canary' && batchSizes.length > 1 ? OBSERVATION_FACTOR * healthWaitMs : 0;
  return { nodeMs, rolloutMs: waves * nodeMs + watched };
}
