import { allFree } from '@hoodcloud/controlplane/dev/child-server';

const STEP = 20;
/** Ends below the range from which systems hand out ports of their own accord. */
const LAST = 32_000;

/**
 * The first of `count` consecutive loopback ports that are free together, looked for from `from` on.
 * @throws Error when there are none
 */
export async function freePortRange(count: number, from: number): Promise<number> {
  for (let first = from; first + count < LAST; first += STEP) {
    if (await allFree(Array.from({ length: count }, (_, index) => first + index))) return first;
  }
  throw new Error(`There are no ${count} free ports in a row between ${from} and ${LAST} on the loopback address.`);
}
