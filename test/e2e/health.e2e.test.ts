import type { RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeChain } from './stack/chain-folder.ts';
import { Stack } from './stack/stack.ts';
import { sharedStores } from './stack/stores.ts';
import { type TinyBehaviour, tinyRelease } from './stack/tiny-release.ts';

const OLD = tinyRelease('v1');
/** Longer than a node may stand while its chain grows. */
const WATCHED_SECONDS = 45;

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open(await sharedStores());
});
afterAll(() => stack?.dispose());

/** Two hosts of a chain of its own; one of them is upgraded to a release that behaves so. */
async function upgradeOne(chain: string, behaviour: TinyBehaviour) {
  writeChain(stack.plane.configDir, chain, { known: [OLD], healthWaitSeconds: WATCHED_SECONDS });
  const [host, other] = await stack.fleet(chain, 2, OLD);
  if (!host || !other) throw new Error('two hosts were asked for');
  const id = await stack.create(
    chain,
    stack.offer(chain, tinyRelease('v2', behaviour)),
    '--strategy',
    'rolling',
    '--node',
    host.name,
  );
  await stack.plane.hoodctl.does('rollout', 'start', id);
  return { host, other, row: () => nodeOf(id) };
}

async function nodeOf(id: string): Promise<RolloutNodeView> {
  const [row] = await stack.nodesOf(id);
  if (!row) throw new Error(`rollout ${id} has no node`);
  return row;
}

function ended(row: () => Promise<RolloutNodeView>): Promise<RolloutNodeView> {
  return until('the end of the node’s attempt', async () => {
    const now = await row();
    return now.status === 'failed' && now.upgrade_phase?.includes('BACK') && now;
  });
}

describe.concurrent('an upgraded node is judged by what its process does', () => {
  it('one in a crash loop goes back at once, before its time is over (D3, field-case 134)', async () => {
    const { host, row } = await upgradeOne('looping', 'loops');
    const failed = await ended(row);
    expect(failed).toMatchObject({ upgrade_phase: 'ROLLED_BACK', status_reason: { code: 'health_failed' } });
    expect(failed.status_reason?.sentence).toMatch(/\d restarts since the upgrade/);
    const starts = host.journal('starts');
    expect(starts.filter((release) => release === 'v2 loops').length).toBeGreaterThan(3);
    expect(starts.at(-1)).toBe('v1 runs');
    await stack.untilKnown(host, OLD);
  });

  it('one that stands while its chain grows goes back when its time is over (D4a)', async () => {
    const { host, other, row } = await upgradeOne('standing', 'stalls');
    const failed = await ended(row);
    expect(failed).toMatchObject({ upgrade_phase: 'ROLLED_BACK', status_reason: { code: 'health_failed' } });
    expect(failed.status_reason?.sentence).toMatch(/sync_status is stalled at height \d+/);
    expect(host.journal('starts')).toEqual(['v1 runs', 'v2 stalls', 'v1 runs']);
    expect(other.journal('starts')).toEqual(['v1 runs']);
    await stack.untilKnown(host, OLD);
  });
});
