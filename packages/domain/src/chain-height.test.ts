import { describe, expect, test } from 'vitest';
import { advanceChainHeight, isHalted, isStalled } from './chain-height.ts';
import { aChain } from './testing/snapshot-builder.ts';

const none = { bestHeight: null, grewAt: null };

describe('the best height of a chain (D4a)', () => {
  test('is the greatest that any node reported, and grew when that came in', () => {
    const reports = [
      { height: 5, receivedAt: 1_000 },
      { height: 4, receivedAt: 2_000 },
      { height: null, receivedAt: 3_000 },
    ];
    expect(advanceChainHeight(none, reports)).toEqual({ bestHeight: 5, grewAt: 1_000 });
  });

  test('does not grow by the same height again, nor by a node that fell back', () => {
    const before = { bestHeight: 5, grewAt: 1_000 };
    expect(advanceChainHeight(before, [{ height: 5, receivedAt: 9_000 }])).toBe(before);
    expect(advanceChainHeight(before, [{ height: 1, receivedAt: 9_000 }])).toBe(before);
    expect(advanceChainHeight(before, [{ height: 6, receivedAt: 9_000 }])).toEqual({ bestHeight: 6, grewAt: 9_000 });
  });

  test('never grew earlier than it did before, whatever the order of reports', () => {
    const after = advanceChainHeight({ bestHeight: 5, grewAt: 4_000 }, [{ height: 6, receivedAt: 3_000 }]);
    expect(after).toEqual({ bestHeight: 6, grewAt: 4_000 });
  });
});

describe('a halt', () => {
  const chain = aChain({ bestHeight: 5, heightGrewAt: 1_000, maxBlockIntervalMs: 500 });

  test('is a height that stands for longer than max_block_interval, and is told (field-case 130)', () => {
    expect(isHalted(chain, 1_500)).toBe(false);
    expect(isHalted(chain, 1_501)).toBe(true);
  });

  test.each([{ bestHeight: null }, { heightGrewAt: null }, { maxBlockIntervalMs: null }])('is not %j', (unknown) => {
    expect(isHalted({ ...chain, ...unknown }, 99_999)).toBe(false);
  });
});

describe('a stalled node', () => {
  const chain = aChain({ bestHeight: 50, heightGrewAt: 10_000, maxBlockIntervalMs: 5_000 });
  const now = 11_000;

  test('stands while its chain grows', () => {
    expect(isStalled({ height: 40, grewAt: 1_000 }, chain, now, 5_000)).toBe(true);
  });

  test('is none that is behind but grows', () => {
    expect(isStalled({ height: 4, grewAt: 9_000 }, chain, now, 5_000)).toBe(false);
  });

  test('is none on a chain that stands', () => {
    expect(isStalled({ height: 40, grewAt: 1_000 }, chain, now + 60_000, 5_000)).toBe(false);
  });

  test('is none of which the height, or the chain, is unknown', () => {
    expect(isStalled({ height: null, grewAt: null }, chain, now, 5_000)).toBe(false);
    expect(isStalled({ height: 40, grewAt: 1_000 }, aChain(), now, 5_000)).toBe(false);
  });
});
