import type { PolicyScope } from './policy-scope.ts';

/** One batch that somebody named: which nodes, and how many of them at the most. */
export interface NamedBatch {
  readonly selector: PolicyScope;
  /** At most so many; with neither `count` nor `percent` it is all that fit. */
  readonly count?: number | undefined;
  /** Of all nodes that fit, rounded up, so that it is never nobody (field-case 104). */
  readonly percent?: number | undefined;
}

/** Batches that grow: `start` nodes, then `factor` times as many each time, up to `max`. */
export interface Ramp {
  readonly start: number;
  readonly factor: number;
  /** Left out: they grow without end. */
  readonly max?: number | undefined;
}

/** Who goes when, beyond the sizes that the specification knows; in the request's own words, as it is stored. */
export interface BatchOrder {
  /** The canaries by name; instead of drawing them. */
  readonly canary_node_ids?: readonly string[] | undefined;
  /** Which nodes the canaries are drawn from. */
  readonly canary_selector?: PolicyScope | undefined;
  /** Batches in their order; what none of them names comes last. */
  readonly batches?: readonly NamedBatch[] | undefined;
  /** Sizes of the batches of what no batch names; instead of `batch_size`. */
  readonly ramp?: Ramp | undefined;
}

/** How many of `fitting` nodes a batch takes at the most. */
export function namedBatchSize({ count, percent }: NamedBatch, fitting: number): number {
  if (count !== undefined) return count;
  return percent === undefined ? fitting : Math.max(1, Math.ceil((fitting * percent) / 100 - 1e-9));
}

/** Size of the batch at `position` of a ramp, from 0; the same on every machine. */
export function rampSize({ start, factor, max }: Ramp, position: number): number {
  let size = start;
  for (let step = 0; step < position; step += 1) {
    size *= factor;
    if (max !== undefined && size >= max) return max;
    if (size >= Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  }
  return Math.min(Math.ceil(size - 1e-9), max ?? Number.MAX_SAFE_INTEGER);
}

/** A batch's nodes in a few words, e.g. `zone=eu, 50 %`. */
export function namedBatchText({ selector, count, percent }: NamedBatch): string {
  const size = count === undefined ? (percent === undefined ? [] : [`${percent} %`]) : [`at most ${count}`];
  return [selectorText(selector), ...size].join(', ');
}

/** A selector in a few words, e.g. `zone=eu|us tier=1`; `every node` when it narrows nothing. */
export function selectorText({ chains, node_types, labels }: PolicyScope): string {
  const words = [
    ...(chains === undefined ? [] : [`chain=${chains.join('|')}`]),
    ...(node_types === undefined ? [] : [`type=${node_types.join('|')}`]),
    ...Object.entries(labels ?? {}).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : value.join('|')}`,
    ),
  ];
  return words.length === 0 ? 'every node' : words.join(' ');
}
