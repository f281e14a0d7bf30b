import { describe, expect, it } from 'vitest';
import { endangersQuorum, largestShares } from './plan-share.ts';

describe('the share that is down at once', () => {
  it('is that of the largest batch, for the fleet and for each zone', () => {
    const shares = largestShares({
      batches: [['eu'], ['eu', 'us', 'us'], ['eu', null, null]],
      maxInFlight: null,
      nodes: 9,
      nodesByZone: new Map([
        ['eu', 3],
        ['us', 4],
      ]),
    });
    expect(shares).toEqual([
      { zone: null, batchIndex: 1, down: 3, of: 9 },
      { zone: 'eu', batchIndex: 0, down: 1, of: 3 },
      { zone: 'us', batchIndex: 1, down: 2, of: 4 },
    ]);
  });

  it('is never more than may be in flight', () => {
    const input = { batches: [['eu', 'eu', 'eu']], maxInFlight: 2, nodes: 3, nodesByZone: new Map([['eu', 3]]) };
    expect(largestShares(input).map(({ down }) => down)).toEqual([2, 2]);
  });

  it('endangers a quorum from over a third on, but not where one node is all', () => {
    expect(endangersQuorum({ down: 1, of: 3 })).toBe(false);
    expect(endangersQuorum({ down: 2, of: 5 })).toBe(true);
    expect(endangersQuorum({ down: 1, of: 1 })).toBe(false);
  });
});
