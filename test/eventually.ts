import { setTimeout as sleep } from 'node:timers/promises';

/** Far beyond what a loaded machine needs. */
const PATIENCE_MS = 90_000;
const POLL_MS = 25;

/** The first answer that is neither empty nor null nor false. @throws Error naming what never came */
export async function eventually<T>(what: string, ask: () => Promise<T>): Promise<NonNullable<T>> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (performance.now() > until) throw new Error(`waited in vain: ${what}`);
    await sleep(POLL_MS);
  }
}
