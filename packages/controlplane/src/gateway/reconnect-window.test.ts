import { expect, it } from 'vitest';
import { reconnectWindowMs } from './reconnect-window.ts';

it('gives ten thousand agents a minute, and a few agents a second (B6, field-case 127)', () => {
  expect(reconnectWindowMs(10_000)).toBe(60_000);
  expect(reconnectWindowMs(4)).toBe(1_000);
  expect(reconnectWindowMs(0)).toBe(1_000);
  expect(reconnectWindowMs(5_000_000)).toBe(600_000);
});

it('never shrinks while the fleet grows', () => {
  const windows = [1, 10, 100, 1_000, 10_000, 100_000].map(reconnectWindowMs);
  expect(windows).toEqual(windows.toSorted((a, b) => a - b));
});
