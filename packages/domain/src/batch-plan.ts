import { type BatchOrder, namedBatchSize, rampSize } from './batch-order.ts';
import { DomainError } from './errors.ts';
import { covers, type PolicyScope, type ScopedNode } from './policy-scope.ts';
import { STRATEGIES } from './rollout-strategy/strategies.ts';
import type { RolloutStrategyName } from './rollout-strategy-name.ts';
import { seededShuffle } from './seeded-random.ts';

export interface BatchPlanInput {
  readonly strategy: RolloutStrategyName;
  /** Nodes at a time, at least 1; without meaning for `all_at_once` and with a ramp. */
  readonly batchSize: number;
  /** Nodes of the canary batch, at least 1; read by `canary` only, and without meaning when the canaries are named. */
  readonly canarySize: number;
  /** The rollout's id: the same rollout always draws the same canaries. */
  readonly seed: string;
  /** Ids of the eligible nodes, in any order, each once. */
  readonly nodes: readonly string[];
  /** Null or left out: nothing but the sizes. */
  readonly order?: BatchOrder | null;
  /** What selectors ask of each node; one that is missing fits none. Needed when the order has selectors. */
  readonly facts?: ReadonlyMap<string, ScopedNode>;
}

/** Why nodes go together: they are the canaries, the batch at this place of the order names them, or none does. */
export type BatchSource =
  | { readonly kind: 'canary' }
  | { readonly kind: 'named'; readonly position: number }
  | { readonly kind: 'rest' };

/** Nodes that go together, never none. */
export interface PlannedBatch {
  readonly source: BatchSource;
  readonly nodeIds: readonly string[];
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
 * Batch index of every node, from 0 without gaps. It depends on the set of ids, the sizes, the order and the seed alone, not
 * on the order in which the nodes are given, so the plan that is shown is the plan that runs.
 * @throws InvalidBatchSizeError
 */
export function planBatches(input: BatchPlanInput): Map<string, number> {
  return new Map(plannedBatches(input).flatMap(({ nodeIds }, index) => nodeIds.map((nodeId) => [nodeId, index])));
}

/**
 * The batches in their order: the canaries, what the order names, then the rest. Named canaries that can all not be
 * upgraded are drawn instead, since a canary rollout without canaries would protect nobody.
 * @throws InvalidBatchSizeError
 */
export function plannedBatches(input: BatchPlanInput): PlannedBatch[] {
  const { strategy, batchSize, canarySize, seed, order, nodes } = input;
  const { shuffled, hasCanaries, inOneBatch } = STRATEGIES[strategy];
  if (!inOneBatch && !order?.ramp) requireSize('batch_size', batchSize);
  if (hasCanaries) requireSize('canary_size', canarySize);
  const sorted = [...new Set(nodes)].sort();
  const left = new Set(shuffled ? seededShuffle(sorted, seed) : sorted);
  if (inOneBatch) return batched([{ source: { kind: 'rest' }, nodeIds: [...left] }]);
  const canaries = hasCanaries ? take(left, canariesOf(input, [...left])) : [];
  const named = (order?.batches ?? []).map((batch, position): PlannedBatch => {
    const fitting = selected(input, batch.selector, nodes).length;
    const nodeIds = selected(input, batch.selector, [...left]).slice(0, namedBatchSize(batch, fitting));
    return { source: { kind: 'named', position }, nodeIds: take(left, nodeIds) };
  });
  const rest = cut([...left], (position) => (order?.ramp ? rampSize(order.ramp, position) : batchSize));
  return batched([{ source: { kind: 'canary' }, nodeIds: canaries }, ...named, ...rest]);
}

function batched(batches: readonly PlannedBatch[]): PlannedBatch[] {
  return batches.filter(({ nodeIds }) => nodeIds.length > 0);
}

function canariesOf(input: BatchPlanInput, ordered: readonly string[]): readonly string[] {
  const { order, canarySize } = input;
  const wanted = new Set(order?.canary_node_ids ?? []);
  const byId = ordered.filter((id) => wanted.has(id));
  if (byId.length > 0) return byId;
  const fitting = order?.canary_selector === undefined ? [] : selected(input, order.canary_selector, ordered);
  return (fitting.length > 0 ? fitting : ordered).slice(0, canarySize);
}

function selected({ facts }: BatchPlanInput, selector: PolicyScope, ids: readonly string[]): string[] {
  return ids.filter((id) => {
    const node = facts?.get(id);
    return node !== undefined && covers(selector, node);
  });
}

function take(left: Set<string>, ids: readonly string[]): readonly string[] {
  for (const id of ids) left.delete(id);
  return ids;
}

function cut(ids: readonly string[], sizeOf: (position: number) => number): PlannedBatch[] {
  const batches: PlannedBatch[] = [];
  for (let start = 0; start < ids.length; ) {
    const size = sizeOf(batches.length);
    batches.push({ source: { kind: 'rest' }, nodeIds: ids.slice(start, start + size) });
    start += size;
  }
  return batches;
}
