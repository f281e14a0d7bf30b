import { expect, it } from 'vitest';
import { plannedRanges } from './batch-ranges.ts';

const batch = (index: number, nodes: number, canary = false) => ({
  index,
  canary,
  of: null,
  nodes: Array.from({ length: nodes }, (_, at) => ({
    node_id: `${index}-${at}`,
    node_name: `n${index}-${at}`,
    source_version: 'v1',
    online: at === 0,
  })),
});

it('a few batches are a line each, an offline node says so', () => {
  expect(plannedRanges([batch(0, 1, true), batch(1, 2), batch(2, 2)])).toEqual([
    { first: 0, last: 0, canary: true, of: null, nodes: 1, names: ['n0-0'] },
    { first: 1, last: 1, canary: false, of: null, nodes: 2, names: ['n1-0', 'n1-1 (offline)'] },
    { first: 2, last: 2, canary: false, of: null, nodes: 2, names: ['n2-0', 'n2-1 (offline)'] },
  ]);
});

it('many alike are one line, and canaries and a smaller last one keep theirs', () => {
  const batches = [batch(0, 2, true), ...Array.from({ length: 2000 }, (_, at) => batch(at + 1, 2)), batch(2001, 1)];
  expect(plannedRanges(batches).map(({ first, last, nodes }) => [first, last, nodes])).toEqual([
    [0, 0, 2],
    [1, 2000, 2],
    [2001, 2001, 1],
  ]);
});
