import { vi } from 'vitest';

/** Waits until the expectation holds; patient, since a loaded machine is slow and only a wrong answer is a failure. */
export function eventually<T>(expectation: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(expectation, { timeout: 60_000, interval: 20 });
}
