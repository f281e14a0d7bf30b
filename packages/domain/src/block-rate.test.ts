import { expect, test } from 'vitest';
import { blockIntervalAfter, expectedAt } from './block-rate.ts';
import { aChain } from './testing/snapshot-builder.ts';

const at = (bestHeight: number | null, grewAt: number | null) => ({ bestHeight, grewAt });

test('the first growth that is seen is the rate', () => {
  expect(blockIntervalAfter(null, at(10, 0), at(20, 60_000))).toBe(6_000);
  expect(blockIntervalAfter(null, at(null, null), at(20, 60_000))).toBeNull();
});

test('blocks seen late, or by two nodes at nearly the same time, leave the average where it is', () => {
  let average = blockIntervalAfter(null, at(0, 0), at(100, 600_000));
  for (let round = 1; round <= 50; round += 1) {
    const [height, time] = [100 * round, 600_000 * round];
    average = blockIntervalAfter(average, at(height, time), at(height + 1, time + 50));
    average = blockIntervalAfter(average, at(height + 1, time + 50), at(height + 100, time + 600_000));
  }
  expect(average).toBeGreaterThan(5_500);
  expect(average).toBeLessThan(6_500);
});

test('a chain that stood for an hour has not become slow', () => {
  expect(blockIntervalAfter(6_000, at(10, 0), at(11, 3_600_000))).toBeLessThan(7_000);
});

test('a height that did not grow says nothing of the rate', () => {
  expect(blockIntervalAfter(6_000, at(10, 0), at(10, 5_000))).toBe(6_000);
  expect(blockIntervalAfter(6_000, at(10, 0), at(5, 5_000))).toBe(6_000);
});

test('the expected time counts from the last growth, and is unknown without a rate', () => {
  const chain = aChain({ bestHeight: 90, heightGrewAt: 1_000, blockIntervalMs: 500 });
  expect(expectedAt(100, chain)).toBe(6_000);
  expect(expectedAt(80, chain)).toBe(1_000);
  expect(expectedAt(100, { ...chain, blockIntervalMs: null })).toBeNull();
});
