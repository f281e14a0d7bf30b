import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pace } from './pace.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const OPTIONS = { gatherMs: 100, restMs: 1000, restTimes: 5 };
const takes = (ms: number) => vi.fn(() => new Promise((resolve) => setTimeout(resolve, ms)));

it('does the work of a whole burst once, soon after its first news', async () => {
  const work = takes(10);
  const pace = new Pace(work, OPTIONS);
  for (let index = 0; index < 50; index += 1) pace.ask();
  await vi.advanceTimersByTimeAsync(99);
  expect(work).toHaveBeenCalledTimes(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(1);
});

it('what is asked for meanwhile is done after a rest', async () => {
  const work = takes(10);
  const pace = new Pace(work, OPTIONS);
  pace.ask();
  await vi.advanceTimersByTimeAsync(105);
  pace.ask();
  await vi.advanceTimersByTimeAsync(1000);
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(10);
  expect(work).toHaveBeenCalledTimes(2);
});

it('rests five times as long as slow work took', async () => {
  const work = takes(2000);
  const pace = new Pace(work, OPTIONS);
  pace.ask();
  await vi.advanceTimersByTimeAsync(150);
  pace.ask();
  await vi.advanceTimersByTimeAsync(2000 + 9900);
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(100);
  expect(work).toHaveBeenCalledTimes(2);
});

it('begins nothing after it was stopped', async () => {
  const work = takes(10);
  const pace = new Pace(work, OPTIONS);
  pace.ask();
  pace.stop();
  pace.ask();
  await vi.advanceTimersByTimeAsync(5000);
  expect(work).not.toHaveBeenCalled();
});
