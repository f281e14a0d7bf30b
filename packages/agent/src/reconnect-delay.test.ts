import fc from 'fast-check';
import { expect, it } from 'vitest';
import { reconnectDelayMs } from './reconnect-delay.ts';

it('spreads agents over the whole window that the gateway asked for (B6)', () => {
  expect(reconnectDelayMs(0, 60_000, 0)).toBe(0);
  expect(reconnectDelayMs(0, 60_000, 0.5)).toBe(30_000);
});

it('grows with each failure up to a cap, and never below the window', () => {
  expect([1, 2, 3, 10, 1000].map((failures) => reconnectDelayMs(failures, 0, 1))).toEqual([
    2000, 4000, 8000, 60_000, 60_000,
  ]);
  expect(reconnectDelayMs(1, 90_000, 1)).toBe(90_000);
});

it('is never negative and never beyond cap or window', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat(600_000),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (failures, window, random) => {
        const delay = reconnectDelayMs(failures, window, random);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(Math.max(60_000, window));
      },
    ),
  );
});
