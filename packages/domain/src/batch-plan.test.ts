import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BatchPlanInput, InvalidBatchSizeError, planBatches } from './batch-plan.ts';
import { ROLLOUT_STRATEGIES } from './rollout-strategy-name.ts';

const anyPlan = fc.record({
  strategy: fc.constantFrom(...ROLLOUT_STRATEGIES),
  batchSize: fc.integer({ min: 1, max: 12 }),
  canarySize: fc.integer({ min: 1, max: 8 }),
  seed: fc.uuid(),
  nodes: fc.uniqueArray(fc.uuid(), { maxLength: 60 }),
});

/** Node ids by batch index. */
function batchesOf(input: BatchPlanInput): string[][] {
  const batches: string[][] = [];
  for (const [nodeId, index] of planBatches(input)) {
    const batch = batches[index] ?? [];
    batch.push(nodeId);
    batches[index] = batch;
  }
  return batches;
}

const sizesOf = (input: BatchPlanInput) => batchesOf(input).map((batch) => batch.length);

describe('every plan', () => {
  test('puts each node into exactly one batch', () => {
    fc.assert(
      fc.property(anyPlan, (input) => {
        expect([...planBatches(input).keys()].sort()).toEqual([...input.nodes].sort());
      }),
    );
  });

  test('has no empty batch and none that is larger than asked', () => {
    fc.assert(
      fc.property(anyPlan, (input) => {
        batchesOf(input).forEach((batch, index) => {
          expect(batch.length).toBeGreaterThanOrEqual(1);
          if (input.strategy === 'all_at_once') expect(index).toBe(0);
          else if (input.strategy === 'canary' && index === 0)
            expect(batch.length).toBeLessThanOrEqual(input.canarySize);
          else expect(batch.length).toBeLessThanOrEqual(input.batchSize);
        });
        expect(sizesOf(input)).not.toContain(undefined);
      }),
    );
  });

  test('fills every batch but the last: sizes round up, never down to a batch of nobody (field-case 104)', () => {
    fc.assert(
      fc.property(anyPlan, (input) => {
        const sizes = sizesOf(input);
        sizes.slice(0, -1).forEach((size, index) => {
          expect(size).toBe(input.strategy === 'canary' && index === 0 ? input.canarySize : input.batchSize);
        });
      }),
    );
  });

  test('does not depend on the order of the nodes, and is the same each time', () => {
    fc.assert(
      fc.property(anyPlan, (input) => {
        const plan = planBatches(input);
        expect(planBatches({ ...input, nodes: [...input.nodes].reverse() })).toEqual(plan);
        expect(planBatches(input)).toEqual(plan);
      }),
    );
  });
});

describe('canaries', () => {
  const nodes = Array.from({ length: 40 }, (_, index) => `node-${String(index).padStart(2, '0')}`);
  const canaries = (seed: string) =>
    batchesOf({ strategy: 'canary', batchSize: 10, canarySize: 2, seed, nodes })[0]?.sort();

  test('are drawn by the rollout: other rollouts draw others', () => {
    const drawn = new Set(Array.from({ length: 200 }, (_, index) => String(canaries(`rollout-${index}`))));
    expect(drawn.size).toBeGreaterThan(100);
  });

  test('are spread over the fleet: in 2,000 rollouts each node is drawn about as often as any other', () => {
    const times = new Map<string, number>();
    for (let index = 0; index < 2_000; index += 1) {
      for (const nodeId of canaries(`rollout-${index}`) ?? []) times.set(nodeId, (times.get(nodeId) ?? 0) + 1);
    }
    // 100 are expected of each; 60 to 140 is four standard deviations.
    for (const nodeId of nodes) {
      expect(times.get(nodeId), nodeId).toBeGreaterThan(60);
      expect(times.get(nodeId), nodeId).toBeLessThan(140);
    }
  });

  test('the plan of a rollout never changes with a release of this program', () => {
    const plan = planBatches({
      strategy: 'canary',
      batchSize: 2,
      canarySize: 1,
      seed: 'r1',
      nodes: ['a', 'b', 'c', 'd'],
    });
    expect(Object.fromEntries(plan)).toMatchInlineSnapshot(`
      {
        "a": 2,
        "b": 0,
        "c": 1,
        "d": 1,
      }
    `);
  });
});

test.each([0, -1, 1.5, Number.NaN])('a size of %s is refused, naming the field', (size) => {
  const input = { strategy: 'canary', batchSize: 1, canarySize: 1, seed: 's', nodes: ['a'] } as const;
  expect(() => planBatches({ ...input, batchSize: size })).toThrow(InvalidBatchSizeError);
  expect(() => planBatches({ ...input, canarySize: size })).toThrow(/canary_size/);
});

test('10,000 nodes are planned in one go', () => {
  const nodes = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
  expect(planBatches({ strategy: 'canary', batchSize: 100, canarySize: 5, seed: 's', nodes }).size).toBe(10_000);
});
