import { expect, it } from 'vitest';
import { type BatchCount, batchRanges } from './batch-ranges.ts';

const all = (batch: number, status: BatchCount['status'], nodes = 10): BatchCount => ({ batch, status, nodes });

it('shows ten thousand nodes as what is over, what happens, and what comes', () => {
  const counts = [
    ...Array.from({ length: 400 }, (_, batch) => all(batch, 'succeeded')),
    all(400, 'in_progress', 4),
    all(400, 'succeeded', 6),
    ...Array.from({ length: 598 }, (_, index) => all(401 + index, 'pending')),
    all(999, 'pending', 3),
  ];
  expect(batchRanges(counts)).toEqual([
    { first: 0, last: 399, nodes: 4000, counts: [{ status: 'succeeded', nodes: 4000 }] },
    {
      first: 400,
      last: 400,
      nodes: 10,
      counts: [
        { status: 'succeeded', nodes: 6 },
        { status: 'in_progress', nodes: 4 },
      ],
    },
    { first: 401, last: 998, nodes: 5980, counts: [{ status: 'pending', nodes: 5980 }] },
    { first: 999, last: 999, nodes: 3, counts: [{ status: 'pending', nodes: 3 }] },
  ]);
});

it('keeps a batch with a failure by itself, and those left out for the end', () => {
  const counts = [
    all(-1, 'skipped', 2),
    all(0, 'succeeded'),
    all(1, 'failed', 1),
    all(1, 'succeeded', 9),
    all(2, 'succeeded'),
  ];
  expect(batchRanges(counts).map(({ first, last }) => [first, last])).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
    [-1, -1],
  ]);
});

it('never joins over a batch that is missing', () => {
  expect(batchRanges([all(0, 'pending'), all(2, 'pending')])).toHaveLength(2);
});
