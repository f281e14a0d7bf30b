import { expect, test } from 'vitest';
import { type ChainPower, powerShares, unacknowledgedShare } from './power-shares.ts';

const POWER: ChainPower = {
  chain: 'gaia',
  limit: { numerator: 1n, denominator: 3n },
  nodeTypes: ['validator'],
  total: 40n,
  down: 0n,
  names: [],
  unknown: [],
  byNode: new Map([
    ['a', 10n],
    ['b', 10n],
    ['c', 5n],
  ]),
};
const node = (node_id: string) => ({ node_id, node_name: node_id, source_version: null, online: true });
const batches = [
  { index: 0, canary: false, of: null, nodes: [node('a'), node('b')] },
  { index: 1, canary: false, of: null, nodes: [node('c'), node('full')] },
];

test('the share of voting power is told per batch, of the whole chain', () => {
  const share = { measure: 'power', zone: null, total: 40 };
  expect(powerShares(POWER, {}, batches)).toEqual([
    { ...share, batch_index: 0, down: 20 },
    { ...share, batch_index: 1, down: 5 },
  ]);
  expect(powerShares(POWER, { max_in_flight: 1 }, batches)).toMatchObject([{ down: 10 }, { down: 5 }]);
  expect(powerShares(null, {}, batches)).toEqual([]);
});

test('a power that no JSON number holds is told in larger units', () => {
  const large = { ...POWER, total: 4n * 10n ** 17n, byNode: new Map([['a', 10n ** 17n]]) };
  const [share] = powerShares(large, {}, batches);
  expect(share && share.down / share.total).toBeCloseTo(0.25, 10);
  expect(Number.isSafeInteger(share?.total)).toBe(true);
});

test('all at once over the limit is refused with the figure, and taken with it in hand', () => {
  const ask = (over: object, power = POWER) =>
    unacknowledgedShare(power, { strategy: 'all_at_once', ...over }, ['a', 'b', 'c']).map(({ message }) => message);
  expect(ask({})).toEqual([
    'All nodes at once are 0.63 of the voting power of gaia, which must stay below 1/3 down: use batches, or acknowledge it with acknowledge_quorum_share "0.63" (--acknowledge-quorum-share 0.63).',
  ]);
  expect(ask({ acknowledge_quorum_share: '0.75' })).toHaveLength(1);
  expect(ask({ acknowledge_quorum_share: '0.63' })).toEqual([]);
  expect(ask({ max_in_flight: 1 })).toEqual([]);
  expect(ask({ strategy: 'rolling' })).toEqual([]);
  expect(ask({ acknowledge_quorum_share: 'unknown' }, { ...POWER, total: null })).toEqual([]);
});
