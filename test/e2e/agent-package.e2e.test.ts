import { dirname } from 'node:path';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { createLab, type HostLab, hostsAvailable } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AGENT,
  agentThatStaysAway,
  bringScripts,
  builtFile,
  CHAIN,
  differences,
  filesOf,
  installPackage,
  installTinyNode,
  writePackagedChain,
} from './packaged-chain.ts';
import { manifestFor, writeManifest } from './stack/chain-folder.ts';
import { ControlPlane } from './stack/control-plane.ts';
import { bundlePrograms, type Programs } from './stack/programs.ts';
import { type Stores, sharedStores } from './stack/stores.ts';
import { BINARY, NODE_TYPE } from './stack/tiny-host.ts';
import { releaseOf, type TinyRelease, tinyRelease } from './stack/tiny-release.ts';

/** Lets the process that upgrades the agent stand still once, in the middle of the change. */
const STAND_STILL = {
  dropIn: '/etc/systemd/system/hoodcloud-agent-upgrade.service.d/stand-still.conf',
  reached: '/var/lib/stood-still',
  content:
    '[Service]\nEnvironment=HOODCLOUD_FAULT=after:install_artifact\nEnvironment=HOODCLOUD_FAULT_FILE=/var/lib/stood-still\n',
};

describe.skipIf(!hostsAvailable())('the agent as operators install it, on a fresh host', () => {
  const [first, second] = [tinyRelease('v1'), tinyRelease('v2')];
  let lab: HostLab;
  let host: Host;
  let fresh: ReadonlyMap<string, string>;
  let shipped: TinyRelease;
  let artifacts: ArtifactServer;
  let programs: Programs;
  let stores: Stores;
  let plane: ControlPlane;

  beforeAll(async () => {
    shipped = releaseOf('0.1.0', await builtFile('agent-program'));
    lab = await createLab();
    host = await lab.up('fresh', { ownUsr: true });
    await installTinyNode(host, first);
    fresh = await filesOf(host);
    artifacts = await ArtifactServer.listen(lab.controlAddress);
    programs = await bundlePrograms();
    stores = await sharedStores();
    plane = await ControlPlane.start({ programs, ...stores, bind: lab.controlAddress });
    writePackagedChain(plane.configDir, [first, second], shipped);
  }, 600_000);

  afterAll(async () => {
    await plane?.dispose();
    await stores?.dispose();
    programs?.dispose();
    await artifacts?.close();
    await lab?.clean();
  });

  it('is installed by the .deb, joins by a token, and reports the node and itself', async () => {
    await installPackage(host, plane, artifacts);
    await untilRuns('v1', shipped);
  });

  it('upgrades its node', async () => {
    const { id } = await begin(BINARY, second);
    expect((await untilEnded(id)).status).toBe('completed');
    await untilRuns('v2', shipped);
  });

  const newer = () => releaseOf('0.2.0', Buffer.concat([shipped.content, Buffer.from('newer')]));

  it('is upgraded itself by a rollout like any other, through a power loss in the middle (field-cases 14, 126)', async () => {
    await host.writeFile(STAND_STILL.dropIn, STAND_STILL.content);
    await host.must('systemctl', 'daemon-reload');
    const { id } = await begin(AGENT, newer());
    await until('the old agent to be stopped and replaced', () => host.readFile(STAND_STILL.reached).catch(() => null));
    await host.kill();
    await host.boot();
    const rollout = await untilEnded(id);
    expect(rollout.status, `${JSON.stringify(await rowOf(id))}\n${await journal()}`).toBe('completed');
    await untilRuns('v2', newer());
    await host.sh(`rm -r ${dirname(STAND_STILL.dropIn)} ${STAND_STILL.reached}; systemctl daemon-reload`);
  });

  it('is put back when the new agent runs and never comes back to its control plane (field-cases 77, 126)', async () => {
    const node = await nodeProcess();
    writePackagedChain(plane.configDir, [first, second], shipped, 20);
    const { id } = await begin(AGENT, releaseOf('0.3.0', agentThatStaysAway(shipped.content)));
    await untilEnded(id);
    expect(await rowOf(id)).toMatchObject({
      status: 'rolled_back',
      error_message: expect.stringContaining('did not come back to its control plane'),
    });
    await plane.hoodctl.does('rollout', 'cancel', id, '--reason', 'seen enough');
    await untilRuns('v2', newer());
    expect(await nodeProcess()).toBe(node);
  });

  it('ends and is not restarted when its own file can not be read, and its node runs on (field-case 25)', async () => {
    const node = await nodeProcess();
    const file = await host.readFile('/etc/hoodcloud/agent.yaml');
    await host.writeFile('/etc/hoodcloud/agent.yaml', 'components: none\n');
    await host.must('systemctl', 'restart', AGENT);
    await until(
      'the agent to give up',
      async () => (await host.exec('systemctl', 'is-failed', '-q', AGENT)).code === 0,
    );
    expect(await host.must('systemctl', 'show', AGENT, '-p', 'NRestarts,ExecMainStatus')).toBe(
      'NRestarts=0\nExecMainStatus=2\n',
    );
    expect(await nodeProcess()).toBe(node);
    await host.writeFile('/etc/hoodcloud/agent.yaml', file);
    await host.must('systemctl', 'start', AGENT);
  });

  it('is removed, and nothing is left behind', async () => {
    await host.must('dpkg', '--purge', AGENT);
    const upgraded = `/usr/local/bin/${BINARY}#content`;
    expect(differences(fresh, await filesOf(host)).filter((line) => !line.startsWith(upgraded))).toEqual([]);
    expect(await host.must('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'hoodcloud*')).toBe('');
    expect(await host.must('systemctl', 'is-active', BINARY)).toBe('active\n');
  });

  it('is installed and removed by scripts where there is no dpkg, and nothing is left behind either', async () => {
    const before = await filesOf(host);
    const scripts = await bringScripts(host, shipped.content);
    await host.must(`${scripts}/install.sh`);
    await host.must(`${scripts}/install.sh`); // over itself: a newer version comes so
    expect(await host.must(AGENT, '--version')).toBe('0.1.0\n');
    expect(await host.must('systemctl', 'is-enabled', AGENT, `${AGENT}-upgrade`)).toBe('enabled\nenabled\n');
    await host.must('/usr/lib/hoodcloud-agent/remove.sh');
    expect(differences(before, await filesOf(host))).toEqual([]);
  });

  async function untilRuns(node: string, agent: TinyRelease): Promise<void> {
    await until(`the host to run ${node} and agent ${agent.version}`, async () => {
      const [shown] = (await plane.hoodctl.get<{ items: NodeView[] }>('/nodes')).items;
      const { components, online, state } = shown ?? { components: [] };
      const runs = Object.fromEntries(components.map((one) => [one.binary_name, one]));
      const here = runs[BINARY]?.binary_version === node && runs[AGENT]?.running_checksum === agent.checksum;
      if (here && online && state === 'healthy') return true;
      throw new Error(JSON.stringify({ online, state, components }));
    });
  }

  async function nodeProcess(): Promise<string> {
    return host.must('systemctl', 'show', BINARY, '-p', 'MainPID,NRestarts,InvocationID');
  }

  /** Offers a release of a component and starts its rollout. */
  async function begin(binaryName: string, release: TinyRelease): Promise<RolloutDetail> {
    const upgradeId = `${binaryName}-${release.version}`;
    const url = artifacts.publish(upgradeId, release.content);
    const upgrade = manifestFor(CHAIN, release, url, { binary_name: binaryName, upgrade_id: upgradeId });
    const words = ['--chain', CHAIN, '--type', NODE_TYPE, '--upgrade', writeManifest(plane.configDir, upgrade)];
    const flags = ['--strategy', 'rolling', '--output', 'json', '--start'];
    return JSON.parse(await plane.hoodctl.does('rollout', 'create', ...words, ...flags)) as RolloutDetail;
  }

  function untilEnded(id: string): Promise<RolloutDetail> {
    return until(`rollout ${id} to end`, async () => {
      const rollout = await plane.hoodctl.get<RolloutDetail>(`/rollouts/${id}`);
      if (['completed', 'failed', 'paused'].includes(rollout.status)) return rollout;
      throw new Error(JSON.stringify({ rollout, row: await rowOf(id), journal: await journal() }));
    });
  }

  async function rowOf(id: string): Promise<RolloutNodeView | undefined> {
    return (await plane.hoodctl.get<{ items: RolloutNodeView[] }>(`/rollouts/${id}/nodes`)).items[0];
  }

  async function journal(): Promise<string> {
    return host.must('journalctl', '--no-pager', '-n', '60', '-u', 'hoodcloud-agent*');
  }
});
