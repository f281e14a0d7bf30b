import { DomainError } from './errors.ts';
import { STRATEGIES } from './rollout-strategy/strategies.ts';
import type { RolloutStrategyName } from './rollout-strategy-name.ts';
import { seededShuffle } from './seeded-random.ts';

export interface BatchPlanInput {
  readonly strategy: RolloutStrategyName;
  /** Nodes at a time, at least 1; without meaning for `all_at_once`. */
  readonly batchSize: number;
  /** Nodes of the canary batch, at least 1; read by `canary` only. */
  readonly canarySize: number;
  /** The rollout's id: the same rollout always draws the same canaries. */
  readonly seed: string;
  /** Ids of the eligible nodes, in any order, each once. */
  readonly nodes: readonly string[];
}

/** A size that no batch can have. */
export class InvalidBatchSizeError extends DomainError {
  constructor(field: string, value: number) {
    super('invalid_batch_size', `${field} is ${value}: it must be a whole number of at least 1`, { field, value });
  }
}

function requireSize(field: string, value: number): void {
  if (!Number.isInteger(value) || value < 1) throw new InvalidBatchSizeError(field, value);
}

/**
 * Batch index of every node, from 0 without gaps. It depends on the set of ids, the sizes and the seed alone, not on the
 * order in which the nodes are given, so the plan that is shown is the plan that runs.
 * @throws InvalidBatchSizeError
 */
export function planBatches({ strategy, batchSize, canarySize, seed, nodes }: BatchPlanInput): Map<string, number> {
  if (strategy !== 'all_at_once') requireSize('batch_size', batchSize);
  if (strategy === 'canary') requireSize('canary_size', canarySize);
  const { shuffled, batchOf } = STRATEGIES[strategy];
  const sorted = [...new Set(nodes)].sort();
  const ordered = shuffled ? seededShuffle(sorted, seed) : sorted;
  return new Map(ordered.map((nodeId, position) => [nodeId, batchOf(position, { batchSize, canarySize })]));
}
