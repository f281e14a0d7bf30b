import type { JoinTokenView, NodeView } from '@hoodcloud/contracts/http/nodes';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { ensureGethReleases } from '@hoodcloud/testkit/chains/geth-binaries';
import { createDockerLab, type DockerLab, dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { AGENT_ON_HOST, installAgent } from '@hoodcloud/testkit/host-lab/agent-on-host';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cometbftInDocker } from './real-failures/cometbft-in-docker.ts';
import { gethInDocker } from './real-failures/geth-in-docker.ts';
import { gethOnSystemd } from './real-failures/geth-on-systemd.ts';
import type { RealNode } from './real-failures/real-node.ts';
import { ControlPlane } from './stack/control-plane.ts';
import { bundlePrograms, type Programs } from './stack/programs.ts';
import { NODE_TYPE, writeRealChain } from './stack/real-chain.ts';
import { type Stores, sharedStores } from './stack/stores.ts';

/** CometBFT under systemd is the live chain's own test. */
const NODES = ['geth under systemd', 'geth in Docker', 'CometBFT in Docker'] as const;
const MINUTE = 60_000;

/** What makes a database of geth v1.16.9 readable for v1.17.10, and leaves it so for v1.16.9. */
const COMPACT = {
  name: 'db-compact',
  at: 'after_install',
  command: ['{binary}', 'db', 'compact', '--datadir', '{data_dir}'],
  undo: 'none',
  repeatable: true,
};

/** Releases that really can't run on the data of the release before them (issue: real upgrades that fail for real). */
describe.skipIf(!dockerAvailable())('an upgrade that the chain’s own data refuse', () => {
  let lab: DockerLab;
  let artifacts: ArtifactServer;
  let programs: Programs;
  let stores: Stores;
  let plane: ControlPlane;
  let nodes: Record<(typeof NODES)[number], RealNode>;

  beforeAll(async () => {
    const geth = await ensureGethReleases();
    const cometbft = await ensureCometbftReleases(['v0.38.21', 'v1.0.1']);
    const docker = await createDockerLab('gethbox');
    lab = docker.lab;
    artifacts = await ArtifactServer.listen(lab.hosts.controlAddress);
    programs = await bundlePrograms();
    stores = await sharedStores();
    plane = await ControlPlane.start({ programs, ...stores, bind: lab.hosts.controlAddress });
    nodes = {
      'geth under systemd': await gethOnSystemd(lab.hosts, geth),
      'geth in Docker': await gethInDocker(docker, lab.registry, geth),
      'CometBFT in Docker': await cometbftInDocker(await lab.up('cometbox'), lab.registry, lab.hosts.dir, cometbft),
    };
    for (const node of Object.values(nodes)) {
      const offered = await node.offer(artifacts);
      const withStep = { ...offered, upgradeId: `${offered.version}-with-step`, hooks: [COMPACT] };
      await writeRealChain(plane.configDir, node.chain, node.running, [offered, withStep]);
      await join(node);
    }
  }, 10 * MINUTE);

  afterAll(async () => {
    await plane?.dispose();
    await stores?.dispose();
    programs?.dispose();
    await artifacts?.close();
    await lab?.clean();
  });

  /** Adds the node, joins its agent, and waits until it is shown healthy with its version. */
  async function join({ chain, host, running, component }: RealNode): Promise<void> {
    const agent = {
      control_plane: { address: plane.gateway },
      state_dir: '/var/lib/hoodcloud',
      allow_http_hosts: [lab.hosts.controlAddress],
      components: [component],
    };
    await plane.hoodctl.does('node', 'add', host.name, '--chain', chain.id, '--type', NODE_TYPE);
    const { join_token } = await plane.hoodctl.asks<JoinTokenView>('node', 'join-token', host.name);
    await installAgent(host, JSON.stringify(agent), join_token);
    await until(`${host.name} to be healthy with ${running.version}`, async () => {
      const node = await plane.hoodctl.asks<NodeView>('node', 'show', host.name);
      if (node.online && node.state === 'healthy' && node.components[0]?.binary_version === running.version)
        return true;
      const log = await host.exec('journalctl', '-u', AGENT_ON_HOST.unit, '-n', '20', '--no-pager', '-o', 'cat');
      throw new Error(`${JSON.stringify(node)}\n${log.stdout}`);
    });
  }

  it.each(NODES)(
    '%s is undone, keeps height and state, and its own words reach the operator',
    async (name) => {
      const node = nodes[name];
      const before = await node.look();
      const words = ['--chain', node.chain.id, '--type', NODE_TYPE, '--strategy', 'rolling', '--start', '--watch'];
      const { code } = await plane.hoodctl.run('rollout', 'create', '--upgrade', node.refused, ...words);
      expect(code).not.toBe(0);

      const shown = await plane.hoodctl.run('rollout', 'status', 'latest', '--output', 'json');
      const rollout = JSON.parse(shown.stdout) as RolloutDetail;
      const { items } = await plane.hoodctl.get<{ items: RolloutNodeView[] }>(`/rollouts/${rollout.id}/nodes`);
      expect(items).toHaveLength(1);
      expect(items[0], items[0]?.error_message ?? '').toMatchObject({ status: 'rolled_back', attempt_count: 1 });
      expect(items[0]?.error_message).toMatch(node.refusal);

      expect(await node.runs()).toBe(node.running.checksum);
      const after = await until(`${name} to make blocks again`, async () => {
        const state = await node.look();
        return state.height > before.height ? state : null;
      });
      expect(after.kept).toEqual(before.kept);
      await plane.hoodctl.does('rollout', 'cancel', rollout.id, '--reason', 'the release needs a step');
      await until(`the rollout of ${name} to end`, async () => {
        const { status } = await plane.hoodctl.get<RolloutDetail>(`/rollouts/${rollout.id}`);
        return status === 'canceled' ? true : null;
      });
    },
    5 * MINUTE,
  );

  it(
    'geth under systemd comes up with that release when the vendor’s step is in the manifest, with height and state',
    async () => {
      const node = nodes['geth under systemd'];
      const before = await node.look();
      const words = ['--chain', node.chain.id, '--type', NODE_TYPE, '--strategy', 'rolling', '--start', '--watch'];
      const upgrade = ['rollout', 'create', '--upgrade', `${node.refused}-with-step`, '--retry-failed', ...words];
      const refused = await plane.hoodctl.run(...upgrade);
      expect(refused.stdout + refused.stderr).toContain('Nothing undoes the hook db-compact');

      const { code, stdout, stderr } = await plane.hoodctl.run(...upgrade, '--acknowledge-state-risk');
      expect(code, stdout + stderr).toBe(0);
      const shown = await plane.hoodctl.run('rollout', 'status', 'latest', '--output', 'json');
      const rollout = JSON.parse(shown.stdout) as RolloutDetail;
      const { items } = await plane.hoodctl.get<{ items: RolloutNodeView[] }>(`/rollouts/${rollout.id}/nodes`);
      expect(items[0], items[0]?.error_message ?? '').toMatchObject({ status: 'succeeded' });
      console.log(`geth with the vendor's step: ${items[0]?.downtime_ms} ms of downtime`);
      expect(await node.runs()).not.toBe(node.running.checksum);

      const after = await until('geth to make blocks again', async () => {
        const state = await node.look();
        return state.height > before.height ? state : null;
      });
      expect(after.kept).toEqual(before.kept);
    },
    5 * MINUTE,
  );
});
