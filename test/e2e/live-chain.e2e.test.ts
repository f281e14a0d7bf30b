import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { type CometbftBinary, ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { COMETBFT_ON_HOST } from '@hoodcloud/testkit/chains/cometbft-host';
import { height, signers } from '@hoodcloud/testkit/chains/cometbft-rpc';
import { HeightWatcher } from '@hoodcloud/testkit/chains/height-watcher';
import { createLab, type HostLab, hostsAvailable } from '@hoodcloud/testkit/host-lab/host-lab';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAIN, versionOf, writeCometbftChain } from './cometbft-chain-files.ts';
import { type FleetNode, joinFleet, runningSha256, startFleet } from './cometbft-fleet.ts';
import { ControlPlane } from './stack/control-plane.ts';
import { bundlePrograms, type Programs } from './stack/programs.ts';
import { type OfferedVersion, writeRuntime } from './stack/real-chain.ts';
import { type Stores, sharedStores } from './stack/stores.ts';

const MINUTE = 60_000;
const VALIDATOR_CONFIG = `${COMETBFT_ON_HOST.home}/config/config.toml`;
const NAMES = ['alpha', 'bravo', 'charlie', 'delta'];

describe.skipIf(!hostsAvailable())('a live chain on four systemd hosts', () => {
  let lab: HostLab;
  let folder: string;
  let artifacts: ArtifactServer;
  let programs: Programs;
  let stores: Stores;
  let plane: ControlPlane;
  let fleet: FleetNode[];
  let targets: OfferedVersion[];
  let releases: Record<'v0.38.17' | 'v0.38.21' | 'v1.0.1', CometbftBinary>;

  beforeAll(async () => {
    releases = await ensureCometbftReleases(['v0.38.17', 'v0.38.21', 'v1.0.1']);
    const { 'v0.38.17': running, 'v0.38.21': patch, 'v1.0.1': major } = releases;
    folder = await mkdtemp(join(tmpdir(), 'live-chain-'));
    lab = await createLab();
    fleet = await startFleet(lab, NAMES, running.path, join(folder, 'network'));
    artifacts = await ArtifactServer.listen(lab.controlAddress);
    const plain = async (release: CometbftBinary): Promise<OfferedVersion> => ({
      ...versionOf(release),
      url: artifacts.publish(`cometbft-${release.release}`, await readFile(release.path)),
    });
    targets = [await offerArchive(patch), await plain(major)];
    programs = await bundlePrograms();
    stores = await sharedStores();
    plane = await ControlPlane.start({ programs, ...stores, bind: lab.controlAddress });
    await writeCometbftChain(plane.configDir, running, targets);
    await joinFleet(fleet, plane, lab.controlAddress);
    await until('every node to be healthy and known by its version', async () => {
      const { items } = await plane.hoodctl.get<Page<NodeView>>('/nodes');
      return items.length === fleet.length && items.every((node) => isReady(node, running.release));
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

  /** As its publisher ships it: a `.tar.gz` for each platform, with the binary in a folder. */
  async function offerArchive({ release, path }: CometbftBinary): Promise<OfferedVersion> {
    const member = `cometbft-${release}/cometbft`;
    await mkdir(join(folder, `cometbft-${release}`));
    await copyFile(path, join(folder, member));
    const archive = execFileSync('tar', ['-cz', '-C', folder, member], { maxBuffer: 1 << 30 });
    const checksum = `sha256:${createHash('sha256').update(archive).digest('hex')}`;
    return { version: release, checksum, url: artifacts.publish(`cometbft-${release}.tar.gz`, archive), member };
  }

  const watch = () => new HeightWatcher(fleet.map(({ validator }) => validator.rpcUrl));
  const rowsOf = (id: string) =>
    plane.hoodctl.get<Page<RolloutNodeView>>(`/rollouts/${id}/nodes`).then(({ items }) => items);

  async function rollOut(...flags: readonly string[]): Promise<{ code: number; rollout: RolloutDetail }> {
    const words = ['--chain', CHAIN, '--type', 'validator', ...flags, '--start', '--watch'];
    const { code, stderr } = await plane.hoodctl.run('rollout', 'create', ...words);
    const shown = await plane.hoodctl.run('rollout', 'status', 'latest', '--output', 'json');
    expect(shown.code, `${stderr}${shown.stderr}`).toBe(code); // both say by it how the rollout stands
    return { code, rollout: JSON.parse(shown.stdout) as RolloutDetail };
  }

  it(
    'goes from v0.38.17 to v0.38.21, a member of an archive, node by node without ever standing still (A6)',
    async () => {
      const watcher = watch();
      const { code, rollout } = await rollOut('--upgrade', 'v0.38.21', '--strategy', 'rolling', '--batch-size', '1');
      const seen = await watcher.stop();
      console.log('chain during the rollout:', JSON.stringify(seen));

      expect(rollout).toMatchObject({ status: 'completed', succeeded_nodes: 4, failed_nodes: 0 });
      expect(code).toBe(0);
      expect(seen.lastHeight - seen.firstHeight).toBeGreaterThan(10);
      expect(seen.longestPauseMs).toBeLessThanOrEqual(10_000);
      expect(seen.fewestUp).toBeGreaterThanOrEqual(3);
      for (const node of fleet) expect(await runningSha256(node), node.host.name).toBe(releases['v0.38.21'].sha256);
      for (const row of await rowsOf(rollout.id)) expect(row).toMatchObject({ status: 'succeeded', attempt_count: 1 });
    },
    10 * MINUTE,
  );

  it(
    'goes back to v0.38.17 by the backups on the hosts: nobody asks the server of the releases (A12a)',
    async () => {
      const asked = artifacts.requests.length;
      await plane.hoodctl.does('rollout', 'rollback', 'latest', '--reason', 'shown to work');
      await until('every node to be back', async () => {
        const shown = await plane.hoodctl.run('rollout', 'status', 'latest', '--output', 'json');
        return (JSON.parse(shown.stdout) as RolloutDetail).status === 'rolled_back';
      });
      for (const node of fleet) expect(await runningSha256(node), node.host.name).toBe(releases['v0.38.17'].sha256);
      expect(artifacts.requests).toHaveLength(asked);
    },
    10 * MINUTE,
  );

  it(
    'undoes v1.0.1, which panics on its data, on the canary alone and pauses',
    async () => {
      const watcher = watch();
      const { code, rollout } = await rollOut('--upgrade', 'v1.0.1', '--strategy', 'canary', '--canary-size', '1');
      const seen = await watcher.stop();

      expect(rollout).toMatchObject({ status: 'paused', status_reason: { code: 'canary_failed' } });
      expect(code).toBe(3);
      const rows = await rowsOf(rollout.id);
      expect(rows.map(({ status }) => status).sort()).toEqual(['pending', 'pending', 'pending', 'rolled_back']);
      expect(rows.find(({ status }) => status === 'rolled_back')?.error_message).toMatch(/panic|did not stay up/);
      for (const node of fleet) expect(await runningSha256(node), node.host.name).toBe(releases['v0.38.17'].sha256);
      expect(seen.longestPauseMs).toBeLessThanOrEqual(10_000);
      expect(seen.fewestUp).toBeGreaterThanOrEqual(3);
      expect((await plane.hoodctl.run('rollout', 'cancel', rollout.id)).code).toBe(0);
    },
    10 * MINUTE,
  );

  it(
    'waits out a validator that ends itself until signing is safe, as its chain says (double_sign_check_height)',
    async () => {
      const [node] = fleet.slice(-1);
      if (node === undefined) throw new Error('there is no fleet');
      const { host, validator } = node;
      await host.sh(`sed -i 's/^double_sign_check_height = .*/double_sign_check_height = 10/' ${VALIDATOR_CONFIG}`);
      // it runs for 5 s before it finds its own signatures: a start counts only after longer than that
      await writeCometbftChain(plane.configDir, releases['v0.38.17'], targets, { stable_seconds: 15 });
      await writeRuntime(
        plane.configDir,
        { id: CHAIN, runtimeType: 'systemd' },
        { start_seconds: 180, tolerated_restarts: 30 },
      );
      const { code, rollout } = await rollOut('--upgrade', 'v0.38.21', '--strategy', 'rolling', '--node', host.name);

      const [row] = await rowsOf(rollout.id);
      expect(rollout, row?.error_message ?? '').toMatchObject({ status: 'completed', succeeded_nodes: 1 });
      expect(code).toBe(0);
      const journal = await host.must('journalctl', '-u', COMETBFT_ON_HOST.unit, '-o', 'cat', '--no-pager');
      expect(journal).toContain('found signature from the same key'); // it did end itself, more than once
      expect(await runningSha256(node)).toBe(releases['v0.38.21'].sha256);
      const at = await height(validator.rpcUrl);
      await until('the validator to sign again', async () =>
        (await signers(validator.rpcUrl, (await height(validator.rpcUrl)) - 1)).has(validator.address),
      );
      expect(await height(validator.rpcUrl)).toBeGreaterThanOrEqual(at);
    },
    10 * MINUTE,
  );
});

/** It has joined, is judged healthy and its running executable has a name. */
function isReady({ online, state, components }: NodeView, version: string): boolean {
  return online && state === 'healthy' && components.every((component) => component.binary_version === version);
}
