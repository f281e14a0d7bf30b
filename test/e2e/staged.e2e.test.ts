import { readFile } from 'node:fs/promises';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { COMETBFT_ON_HOST } from '@hoodcloud/testkit/chains/cometbft-host';
import { height } from '@hoodcloud/testkit/chains/cometbft-rpc';
import { hostsAvailable } from '@hoodcloud/testkit/host-lab/host-lab';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAIN } from './cometbft-chain-files.ts';
import { runningSha256 } from './cometbft-fleet.ts';
import { type LiveFleet, startLiveFleet } from './live-fleet.ts';
import { clockSwap, toldVersion } from './swap-clock.ts';

const MINUTE = 60_000;
/** Blocks until the height: about a second each, and making ready takes a few. */
const AHEAD = 40;

describe.skipIf(!hostsAvailable())('a live chain that is swapped at a height', () => {
  let fleet: LiveFleet;

  beforeAll(async () => {
    fleet = await startLiveFleet(['staged-a', 'staged-b', 'staged-c', 'staged-d']);
  }, 10 * MINUTE);
  afterAll(async () => fleet?.dispose());

  const tip = () => height(fleet.nodes[0]?.validator.rpcUrl ?? '');
  const rollout = async (id: string) => fleet.plane.hoodctl.get<RolloutDetail>(`/rollouts/${id}`);
  const rowsOf = async (id: string) =>
    (await fleet.plane.hoodctl.get<Page<RolloutNodeView>>(`/rollouts/${id}/nodes`)).items;

  /** A rollout of every node at once, that agents carry out by themselves at the height. @returns when all are armed */
  async function arm(version: string): Promise<{ id: string; at: number }> {
    const at = (await tip()) + AHEAD;
    const words = ['--chain', CHAIN, '--type', 'validator', '--upgrade', version, '--strategy', 'all_at_once'];
    const staged = ['--stage', '--at-height', `${at}`, '--activate', 'height'];
    await fleet.plane.hoodctl.does('rollout', 'create', ...words, ...staged, '--start');
    const { id } = await fleet.plane.hoodctl.asks<RolloutDetail>('rollout', 'status', 'latest');
    await until('every node to be armed', async () =>
      (await rowsOf(id)).every(({ staged: row }) => row?.state === 'armed'),
    );
    expect(await tip(), 'armed before the height').toBeLessThan(at);
    return { id, at };
  }

  const untilCompleted = (id: string) =>
    until('the rollout to be completed', async () => (await rollout(id)).status === 'completed');

  async function expectAllOn({ sha256 }: { readonly sha256: string }): Promise<void> {
    for (const node of fleet.nodes) expect(await runningSha256(node), node.host.name).toBe(sha256);
  }

  it(
    'is made ready ahead, swapped by every agent once its node is past the height, and makes blocks again',
    async () => {
      const { id, at } = await arm('v0.38.21');
      const times = await clockSwap(fleet.nodes, { height: at, version: await toldVersion(fleet.next) });
      console.log('by the agents:', JSON.stringify(times));
      expect(times.tooEarly).toEqual([]);
      await untilCompleted(id);
      expect((await rowsOf(id)).map(({ error_message }) => error_message)).toEqual([null, null, null, null]);
      expect(await rollout(id)).toMatchObject({ succeeded_nodes: 4, failed_nodes: 0 });
      for (const row of await rowsOf(id)) expect(row).toMatchObject({ status: 'succeeded', attempt_count: 1 });
      await expectAllOn(fleet.next);
    },
    10 * MINUTE,
  );

  it(
    'the same by hand, for comparison: a script on each host waits for the height, stops, renames and starts',
    async () => {
      const at = (await tip()) + AHEAD / 2;
      const file = await readFile(fleet.old.path);
      for (const { host, validator } of fleet.nodes) {
        await host.writeFile(`${COMETBFT_ON_HOST.binary}.other`, file, 0o755);
        await host.sh(swapByHand(validator.metricsUrl, at));
      }
      const times = await clockSwap(fleet.nodes, { height: at, version: await toldVersion(fleet.old) });
      console.log('by hand:', JSON.stringify(times));
      await expectAllOn(fleet.old);
    },
    10 * MINUTE,
  );

  it(
    'is swapped all the same while the control plane is gone, which is told afterwards (B2)',
    async () => {
      await until('every node to be known by what a person put there', async () => {
        const { items } = await fleet.plane.hoodctl.get<Page<{ components: { binary_version: string }[] }>>('/nodes');
        return items.every(({ components }) => components[0]?.binary_version === 'v0.38.17');
      });
      const { id, at } = await arm('v0.38.21');
      await fleet.plane.killRoles('api', 'gateway', 'worker', 'reconciler');
      const times = await clockSwap(fleet.nodes, { height: at, version: await toldVersion(fleet.next) });
      console.log('without a control plane:', JSON.stringify(times));
      expect(times.tooEarly).toEqual([]);
      await fleet.plane.startRoles('api', 'gateway', 'worker', 'reconciler');
      await untilCompleted(id);
      expect(await rollout(id)).toMatchObject({ succeeded_nodes: 4, failed_nodes: 0 });
      await expectAllOn(fleet.next);
    },
    10 * MINUTE,
  );
});

/** What a good operator leaves running on a host in such a night, the binary beside the one that runs. */
function swapByHand(metricsUrl: string, at: number): string {
  const { binary, unit } = COMETBFT_ON_HOST;
  const seen = `curl -s ${metricsUrl} | awk '/^cometbft_consensus_latest_block_height/ { print int($2) }'`;
  return `cat >/opt/swap.sh <<'END'
until [ "$(${seen})" -gt ${at} ] 2>/dev/null; do sleep 0.1; done
systemctl stop ${unit}; mv ${binary}.other ${binary}; systemctl start ${unit}
END
setsid sh /opt/swap.sh >/opt/swap.log 2>&1 </dev/null &`;
}
