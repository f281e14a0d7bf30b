import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
/** Generous: the machine of a test run may be busy with ten other things. */
const WITHIN_MS = 300_000;

/**
 * Waits for a condition, never for a duration.
 * @param look answers what was waited for, or null, undefined or false while it isn't there; what it throws is shown at the end
 * @throws Error naming what was waited for
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false>,
  withinMs = WITHIN_MS,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (let trouble: unknown; ; ) {
    try {
      const found = await look();
      if (found) return found;
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
    if (Date.now() > end) throw new Error(`waited ${withinMs / 1000} s in vain for ${what}`, { cause: trouble });
    await sleep(POLL_MS);
  }
}
