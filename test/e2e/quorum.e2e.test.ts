import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { EventView } from '@hoodcloud/contracts/http/events';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { height } from '@hoodcloud/testkit/chains/cometbft-rpc';
import { HeightWatcher } from '@hoodcloud/testkit/chains/height-watcher';
import { createLab, type HostLab, hostsAvailable } from '@hoodcloud/testkit/host-lab/host-lab';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAIN, cometbftChain, versionOf } from './cometbft-chain-files.ts';
import { type FleetNode, joinFleet, startFleet } from './cometbft-fleet.ts';
import { ControlPlane } from './stack/control-plane.ts';
import { Hoodctl } from './stack/hoodctl.ts';
import { bundlePrograms, type Programs } from './stack/programs.ts';
import { writeRealChain } from './stack/real-chain.ts';
import { type Stores, sharedStores } from './stack/stores.ts';

const MINUTE = 60_000;
const NAMES = ['quorum-a', 'quorum-b', 'quorum-c', 'quorum-d'];

describe.skipIf(!hostsAvailable())('the quorum guard on a live chain of four validators', () => {
  let lab: HostLab;
  let folder: string;
  let artifacts: ArtifactServer;
  let programs: Programs;
  let stores: Stores;
  let plane: ControlPlane;
  let fleet: FleetNode[];

  beforeAll(async () => {
    const { 'v0.38.17': old, 'v0.38.21': next } = await ensureCometbftReleases(['v0.38.17', 'v0.38.21']);
    folder = await mkdtemp(join(tmpdir(), 'quorum-'));
    lab = await createLab();
    fleet = await startFleet(lab, NAMES, old.path, join(folder, 'network'));
    artifacts = await ArtifactServer.listen(lab.controlAddress);
    programs = await bundlePrograms();
    stores = await sharedStores();
    plane = await ControlPlane.start({ programs, ...stores, bind: lab.controlAddress, heartbeatSeconds: 1 });
    const targets = await Promise.all(
      [old, next].map(async (release) => ({
        ...versionOf(release),
        url: artifacts.publish(`cometbft-${release.release}`, await readFile(release.path)),
      })),
    );
    const chain = { ...cometbftChain(CHAIN, 'systemd'), quorum: {} };
    const health = { ...chain.health, health_wait_seconds: 2, stable_seconds: 2 };
    await writeRealChain(plane.configDir, { ...chain, health }, versionOf(old), targets);
    await joinFleet(fleet, plane, lab.controlAddress);
    await until('every validator to be healthy, and its power told', async () => {
      const { items } = await plane.hoodctl.get<Page<NodeView>>('/nodes');
      const powers = await plane.db.selectFrom('nodes').select('voting_power').execute();
      const well = items.filter(
        ({ online, state, components }) =>
          online && state === 'healthy' && components[0]?.binary_version === old.release,
      );
      return well.length === fleet.length && powers.every(({ voting_power }) => voting_power !== null);
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

  const watch = () => new HeightWatcher(fleet.map(({ validator }) => validator.rpcUrl));

  async function latest(): Promise<RolloutDetail> {
    const { stdout } = await plane.hoodctl.run('rollout', 'status', 'latest', '--output', 'json');
    return JSON.parse(stdout) as RolloutDetail;
  }

  function begin(...flags: readonly string[]): Promise<unknown> {
    return plane.hoodctl.does('rollout', 'create', '--chain', CHAIN, '--type', 'validator', ...flags, '--start');
  }

  /** Waits until others of the rollout wait for the quorum. @returns the sentence that says why */
  async function untilHeld(): Promise<string> {
    let said = '';
    await until('the quorum guard to hold the others', async () => {
      const why = (await latest()).why.find(({ code }) => code === 'quorum_at_risk');
      said = why?.sentence ?? '';
      return why !== undefined;
    });
    return said;
  }

  const untilDone = () => until('the rollout to be over', async () => (await latest()).status === 'completed');

  /** The most nodes of a rollout that were in flight at one moment, by its history. */
  async function mostInFlight(rolloutId: string): Promise<number> {
    const { items } = await plane.hoodctl.get<Page<EventView>>(`/rollouts/${rolloutId}/events?limit=500`);
    const kinds = items.toSorted((one, other) => one.seq - other.seq).map(({ kind }) => kind);
    let [now, most] = [0, 0];
    for (const kind of kinds) {
      if (kind === 'node_upgrade_started') now += 1;
      if (kind === 'node_upgrade_completed') now -= 1;
      most = Math.max(most, now);
    }
    return most;
  }

  it(
    'all at once is held alike; with the guard set aside the same run takes three validators, and the chain recovers',
    async () => {
      const refused = await plane.hoodctl.run(
        'rollout',
        'create',
        '--chain',
        CHAIN,
        '--type',
        'validator',
        '--upgrade',
        'v0.38.21',
        '--strategy',
        'all_at_once',
      );
      expect(refused.stderr).toContain('All nodes at once are 1.00 of the voting power of cometbft');
      const watcher = watch();
      await begin('--upgrade', 'v0.38.21', '--strategy', 'all_at_once', '--acknowledge-quorum-share', '1.00');
      await untilHeld();
      const { id } = await latest();
      const { key } = await createApiKey(plane.db, { name: 'bold', createdBy: 'test', scopes: ['override'] });
      const boldHoodctl = new Hoodctl(programs.hoodctl, { url: plane.url, apiKey: key });
      expect(await mostInFlight(id)).toBe(1);
      await boldHoodctl.does('rollout', 'override', id, `quorum/${CHAIN}`, '--reason', 'the chain may stand');
      await untilDone();
      const seen = await watcher.stop();
      console.log('set aside:', JSON.stringify(seen));
      expect(await mostInFlight(id)).toBeGreaterThanOrEqual(3);
      const stood = await height(fleet[0]?.validator.rpcUrl ?? '');
      await until(
        'the chain to make blocks again',
        async () => (await height(fleet[0]?.validator.rpcUrl ?? '')) > stood + 1,
      );
    },
    10 * MINUTE,
  );

  it(
    'batches of two: never more than one validator is down, and the other one waits and says why',
    async () => {
      const watcher = watch();
      await begin('--upgrade', 'v0.38.17', '--strategy', 'rolling', '--batch-size', '2');
      expect(await untilHeld()).toMatch(
        /^With quorum-. down, 0\.50 of the voting power of cometbft would be, and it must/,
      );
      await untilDone();
      const seen = await watcher.stop();
      const rollout = await latest();
      console.log('guarded:', JSON.stringify(seen));
      expect(rollout).toMatchObject({ status: 'completed', succeeded_nodes: 4 });
      expect(await mostInFlight(rollout.id)).toBe(1);
      expect(seen.fewestUp).toBeGreaterThanOrEqual(3);
    },
    10 * MINUTE,
  );
});
