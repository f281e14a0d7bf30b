import { expect, it } from 'vitest';
import { ChainNeverSeen, HeightWatcher, nodesThatMakeBlocks, TipRecord } from './height-watcher.ts';

it('reports first and last height and the longest pause between heights', () => {
  const record = new TipRecord(2);
  record.observe(0, 10, 1000);
  record.observe(1, 11, 1500);
  record.observe(0, 11, 4000);
  record.observe(0, 12, 4500);
  expect(record.report(4600)).toEqual({
    firstHeight: 10,
    lastHeight: 12,
    longestPauseMs: 3000,
    fewestUp: 2,
    longestHaltMs: 0,
  });
});

it('counts the time since the last height as a pause', () => {
  const record = new TipRecord(1);
  record.observe(0, 10, 0);
  record.observe(0, 11, 100);
  expect(record.report(9100)).toMatchObject({ longestPauseMs: 9000 });
});

it('takes a node that lags behind for no step back', () => {
  const record = new TipRecord(2);
  record.observe(0, 10, 0);
  record.observe(1, 4, 50);
  expect(record.report(60)).toMatchObject({ firstHeight: 10, lastHeight: 10 });
});

it('counts how many nodes answered at the worst moment', () => {
  const record = new TipRecord(3);
  record.observe(0, undefined, 0);
  for (const node of [0, 1, 2]) record.observe(node, 5, 10);
  record.observe(1, undefined, 20);
  record.observe(1, 6, 30);
  record.observe(2, undefined, 40);
  expect(record.report(50)?.fewestUp).toBe(2);
});

it('counts no node as down whose first answer is still awaited', () => {
  const record = new TipRecord(3);
  record.observe(0, 5, 0);
  record.observe(1, undefined, 10);
  expect(record.report(20)?.fewestUp).toBe(2);
});

it('says so when no node ever answered', async () => {
  const watcher = new HeightWatcher(['http://127.0.0.1:1'], 10);
  await expect(watcher.stop()).rejects.toThrow(ChainNeverSeen);
});

it('more than two thirds make blocks: three of three and of four, five of six', () => {
  expect([1, 3, 4, 6, 7].map(nodesThatMakeBlocks)).toEqual([1, 3, 3, 5, 5]);
});

it('a halt begins when too few nodes answer and ends with the next height, whoever answers meanwhile', () => {
  const record = new TipRecord(4);
  for (const node of [0, 1, 2, 3]) record.observe(node, 5, 0);
  record.observe(0, undefined, 1000);
  record.observe(1, undefined, 2000);
  record.observe(0, 5, 6000);
  expect(record.report(7000)).toMatchObject({ longestHaltMs: 5000, longestPauseMs: 7000, fewestUp: 2 });
  record.observe(0, 6, 8000);
  record.observe(1, 6, 9000);
  expect(record.report(99_000)).toMatchObject({ longestHaltMs: 6000, fewestUp: 2 });
});

it('a pause while enough nodes answer is no halt', () => {
  const record = new TipRecord(4);
  for (const node of [0, 1, 2, 3]) record.observe(node, 5, 0);
  record.observe(0, undefined, 1000);
  record.observe(1, 6, 31_000);
  expect(record.report(32_000)).toMatchObject({ longestHaltMs: 0, longestPauseMs: 31_000 });
});
