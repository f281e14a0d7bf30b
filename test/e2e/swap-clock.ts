import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { status } from '@hoodcloud/testkit/chains/cometbft-rpc';
import type { FleetNode } from './cometbft-fleet.ts';

/** How a fleet went over to a version at a height, in milliseconds after the first node was past it. */
export interface SwapTimes {
  /** Every node answers with the new version. */
  readonly allBackMs: number;
  /** A height that no node of the old version had reached. */
  readonly nextBlockMs: number;
  /** The highest of a node of the old version. */
  readonly lastOfOld: number;
  /** Nodes that answered with the new version, or not at all, before any node was past the height. */
  readonly tooEarly: readonly string[];
}

const LOOK_MS = 25;
const LIMIT_MS = 180_000;

/** The version that a program tells of itself, also by its RPC: v0.38.21 calls itself 0.38.19. */
export async function toldVersion({ path }: { readonly path: string }): Promise<string> {
  return (await promisify(execFile)(path, ['version'])).stdout.trim();
}

/**
 * Watches from outside, by each node's own RPC, until all of them run `version` and the chain makes blocks again.
 * @param version by `toldVersion`
 * @throws Error when it takes longer than three minutes
 */
export async function clockSwap(
  nodes: readonly FleetNode[],
  { height, version }: { readonly height: number; readonly version: string },
): Promise<SwapTimes> {
  const back = new Set<string>();
  const tooEarly = new Set<string>();
  let [pastAt, allBackAt, lastOfOld] = [0, 0, 0];
  const began = performance.now();
  while (performance.now() - began < LIMIT_MS) {
    const seen = await Promise.all(
      nodes.map(async ({ host, validator }) => ({
        name: host.name,
        said: await status(validator.rpcUrl, 500).catch(() => null), // a node that is being swapped does not answer
      })),
    );
    const now = performance.now();
    for (const { name, said } of seen) {
      const isNew = said?.version === version;
      if (pastAt === 0 && (isNew || said === null)) tooEarly.add(name);
      if (isNew) back.add(name);
      if (said !== null && !isNew) lastOfOld = Math.max(lastOfOld, said.height);
    }
    const highest = Math.max(...seen.map(({ said }) => said?.height ?? 0));
    if (pastAt === 0 && highest > height) pastAt = now;
    if (allBackAt === 0 && back.size === nodes.length) allBackAt = now;
    if (allBackAt > 0 && highest > lastOfOld) {
      return { allBackMs: allBackAt - pastAt, nextBlockMs: now - pastAt, lastOfOld, tooEarly: [...tooEarly] };
    }
    await sleep(LOOK_MS);
  }
  throw new Error(`not every node runs ${version} ${LIMIT_MS / 1000} s later: only ${[...back].join(', ')}`);
}
