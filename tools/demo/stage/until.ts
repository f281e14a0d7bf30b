import { setTimeout as sleep } from 'node:timers/promises';

/** Something that was waited for didn't come true in its time. */
export class WaitedInVain extends Error {
  readonly code = 'waited_in_vain';
}

/**
 * Waits until `look` answers something else than null; asks every 200 ms.
 * @throws WaitedInVain naming what was waited for, after `timeoutMs`; an AbortError when `signal` aborts
 */
export async function until<Found>(
  what: string,
  timeoutMs: number,
  signal: AbortSignal,
  look: () => Promise<Found | null>,
): Promise<Found> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > deadline) throw new WaitedInVain(`${what} did not come true within ${timeoutMs / 1000} s`);
    await sleep(200, undefined, { signal });
  }
}
