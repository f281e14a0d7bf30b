import { expect, it } from 'vitest';
import { ChainNeverSeen, HeightWatcher, TipRecord } from './height-watcher.ts';

it('reports first and last height and the longest pause between heights', () => {
  const record = new TipRecord(2);
  record.observe(0, 10, 1000);
  record.observe(1, 11, 1500);
  record.observe(0, 11, 4000);
  record.observe(0, 12, 4500);
  expect(record.report(4600)).toEqual({ firstHeight: 10, lastHeight: 12, longestPauseMs: 3000, fewestUp: 2 });
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
