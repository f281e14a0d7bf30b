import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import type { RolloutGroupDetail } from '@hoodcloud/contracts/http/rollout-groups';
import type { RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { type CometbftBinary, ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { height } from '@hoodcloud/testkit/chains/cometbft-rpc';
import { createLab, type HostLab, hostsAvailable } from '@hoodcloud/testkit/host-lab/host-lab';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FleetNode, joinFleet, runningSha256, startFleet } from './cometbft-fleet.ts';
import {
  installLight,
  LIGHT_COMPONENT,
  LIGHT_ON_HOST,
  PAIR_CHAIN,
  verifiedHeight,
  writePair,
} from './cometbft-pair.ts';
import { ControlPlane } from './stack/control-plane.ts';
import { bundlePrograms, type Programs } from './stack/programs.ts';
import { type Stores, sharedStores } from './stack/stores.ts';

const MINUTE = 60_000;

/** The example of examples/chains/cometbft-pair: a validator and the light client that verifies its blocks, on each host. */
describe.skipIf(!hostsAvailable())('a chain of two programs on each of two hosts', () => {
  let lab: HostLab;
  let folder: string;
  let artifacts: ArtifactServer;
  let programs: Programs;
  let stores: Stores;
  let plane: ControlPlane;
  let fleet: FleetNode[];
  let groupFile: string;
  let target: CometbftBinary;

  beforeAll(async () => {
    const releases = await ensureCometbftReleases(['v0.38.17', 'v0.38.21']);
    const running = releases['v0.38.17'];
    target = releases['v0.38.21'];
    folder = await mkdtemp(join(tmpdir(), 'pair-chain-'));
    lab = await createLab();
    fleet = await startFleet(lab, ['pairone', 'pairtwo'], running.path, join(folder, 'network'));
    artifacts = await ArtifactServer.listen(lab.controlAddress);
    programs = await bundlePrograms();
    stores = await sharedStores();
    plane = await ControlPlane.start({ programs, ...stores, bind: lab.controlAddress });
    const url = artifacts.publish('cometbft-v0.38.21', await readFile(target.path));
    groupFile = await writePair(plane.configDir, running, target, url);
    await until('the chain', async () => (await height(rpcOf(0))) > 1);
    await Promise.all(fleet.map((node, index) => installLight(node, running.path, rpcOf(1 - index))));
    await joinFleet(fleet, plane, lab.controlAddress, { chain: PAIR_CHAIN, companion: LIGHT_COMPONENT });
    await until('every node to be healthy with both programs', async () => {
      const { items } = await plane.hoodctl.get<Page<NodeView>>('/nodes');
      const ready = ({ online, state, components }: NodeView) =>
        online && state === 'healthy' && components.every(({ binary_version }) => binary_version === running.release);
      if (items.length === fleet.length && items.every(ready)) return true;
      throw new Error(JSON.stringify(items));
    });
  }, 10 * MINUTE);

  afterAll(async () => {
    await plane?.dispose();
    await stores?.dispose();
    programs?.dispose();
    await artifacts?.close();
    await lab?.clean();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const rpcOf = (index: number): string => fleet[index]?.validator.rpcUrl ?? '';
  const group = (id: string) => plane.hoodctl.get<RolloutGroupDetail>(`/rollout-groups/${id}`);
  const rowsOf = async (group: RolloutGroupDetail, index: number) =>
    (await plane.hoodctl.get<Page<RolloutNodeView>>(`/rollouts/${group.rollouts[index]?.id}/nodes`)).items;

  /** Waits for what a group shows; fails with all of it. */
  const untilGroup = (what: string, id: string, holds: (group: RolloutGroupDetail) => boolean | Promise<boolean>) =>
    until(what, async () => {
      const now = await group(id);
      if (await holds(now)) return now;
      throw new Error(JSON.stringify(now));
    });

  it(
    'is upgraded as a group: the light clients wait until every host of the validators is healthy',
    async () => {
      const { id } = await plane.hoodctl.asks<RolloutGroupDetail>('group', 'create', '-f', groupFile);
      await plane.hoodctl.does('group', 'start', id);
      await untilGroup('a validator to be upgraded', id, async (now) =>
        (now.rollouts.length === 0 ? [] : await rowsOf(now, 0)).some(({ status }) => status === 'succeeded'),
      );
      await plane.hoodctl.does('group', 'pause', id);
      const paused = await untilGroup('the pause', id, ({ status }) => status === 'paused');

      // One host's companion is down: that host is not healthy, whatever its new validator says.
      const done = (await rowsOf(paused, 0)).find(({ status }) => status === 'succeeded');
      const sick = fleet.find(({ host }) => host.name === done?.node_name);
      if (sick === undefined) throw new Error(`no host of ${JSON.stringify(done)}`);
      await sick.host.must('systemctl', 'stop', LIGHT_ON_HOST.unit);
      await until('its node to be ill', async () => {
        const { items } = await plane.hoodctl.get<Page<NodeView>>('/nodes');
        return items.find(({ name }) => name === sick.host.name)?.state !== 'healthy';
      });
      await plane.hoodctl.does('group', 'resume', id);
      const shut = await untilGroup('the gate to be asked', id, ({ rollouts, waiting }) => {
        const gate = waiting?.reasons.find(({ code }) => code === 'component_gate');
        return rollouts[0]?.status === 'completed' && gate?.sentence.includes(sick.host.name) === true;
      });
      expect(shut.rollouts).toHaveLength(1);

      await sick.host.must('systemctl', 'start', LIGHT_ON_HOST.unit);
      const ended = await untilGroup('the end', id, ({ status }) => !['running', 'pending'].includes(status));
      expect(ended, JSON.stringify(ended)).toMatchObject({ status: 'completed' });
      for (const index of [0, 1]) {
        const rows = await rowsOf(ended, index);
        expect(rows.map(({ status, attempt_count }) => [status, attempt_count])).toEqual(
          fleet.map(() => ['succeeded', 1]),
        );
      }
      for (const node of fleet) {
        expect(await runningSha256(node)).toBe(target.sha256);
        expect(await runningSha256(node, LIGHT_ON_HOST.unit)).toBe(target.sha256);
        const before = await height(node.validator.rpcUrl);
        await until(
          'the new light client to verify a new block',
          async () => (await verifiedHeight(node.host)) > before,
        );
      }
    },
    10 * MINUTE,
  );
});
