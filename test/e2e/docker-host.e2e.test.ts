import type { JoinTokenView, NodeView } from '@hoodcloud/contracts/http/nodes';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { createDockerLab, type DockerLab, dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { imageHere } from '@hoodcloud/testkit/docker-lab/image-pull';
import { serviceImage } from '@hoodcloud/testkit/docker-lab/service-image';
import { installAgent } from '@hoodcloud/testkit/host-lab/agent-on-host';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { until } from '@hoodcloud/testkit/until';
import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifestFor, writeChain, writeManifest } from './stack/chain-folder.ts';
import { ControlPlane } from './stack/control-plane.ts';
import { bundlePrograms, type Programs } from './stack/programs.ts';
import { type Stores, sharedStores } from './stack/stores.ts';
import { BINARY, NODE_TYPE } from './stack/tiny-host.ts';

const CHAIN = 'dock';
const CONTAINER = 'validator';

/** A node in an image: one block a second, its height as a metrics page, and a journal of its starts on its volume. */
const NODE_SCRIPT = `
echo "node $VERSION starts"
if [ "$MODE" = crash ]; then echo "panic: cannot open database: version mismatch"; exit 3; fi
echo "$VERSION" >> /data/starts
trap 'exit 0' TERM
mkdir -p /www; httpd -p 9100 -h /www
height=$(cat /data/height || echo 0)
while :; do
  height=$((height + 1)); echo "$height" > /data/height
  echo "tiny_height $height" > /www/metrics
  sleep 1 & wait $!
done
`;

interface ImageRelease {
  readonly version: string;
  readonly reference: string;
  readonly checksum: string;
}

describe.skipIf(!dockerAvailable())('a node in a container, upgraded by hoodctl', () => {
  let lab: DockerLab;
  let host: Host;
  let engine: Docker;
  let programs: Programs;
  let stores: Stores;
  let plane: ControlPlane;
  let first: ImageRelease;
  let second: ImageRelease;
  let broken: ImageRelease;

  beforeAll(async () => {
    ({ lab, host, engine } = await createDockerLab('dockbox'));
    [first, second, broken] = [await push('v1'), await push('v2'), await push('v3', 'crash')];
    programs = await bundlePrograms();
    stores = await sharedStores();
    plane = await ControlPlane.start({ programs, ...stores, bind: lab.hosts.controlAddress });
    const known = [first, second].map(({ version, checksum }) => ({ version, checksum, content: Buffer.alloc(0) }));
    writeChain(plane.configDir, CHAIN, { known, artifactKind: 'image', runtimeType: 'docker' });
    await operatorsContainer();
    await join();
    await untilRuns(first);
  }, 600_000);

  afterAll(async () => {
    await plane?.dispose();
    await stores?.dispose();
    programs?.dispose();
    await lab?.clean();
  });

  it('runs the new image with the data of the old one, and the old container goes once it is confirmed', async () => {
    const old = await container(CONTAINER);
    const { id } = await upgradeTo(second);
    expect((await untilEnded(id)).status, JSON.stringify(await rowOf(id))).toBe('completed');
    await untilRuns(second);
    await until('the old container to be removed', async () => (await namesOfContainers()).join() === `/${CONTAINER}`);
    const now = await container(CONTAINER);
    expect(now.Id).not.toBe(old.Id);
    expect(now.Config.Image).toBe(second.reference);
    expect(now.HostConfig.RestartPolicy).toEqual(old.HostConfig.RestartPolicy);
    expect(now.Mounts).toEqual(old.Mounts);
    expect(await starts()).toEqual(['v1', 'v2']);
  });

  it('goes back to the image that is still here, with the registry gone (A12a)', async () => {
    await lab.registry.stop();
    const [upgrade] = (await plane.hoodctl.get<{ items: RolloutDetail[] }>('/rollouts')).items;
    await plane.hoodctl.does('rollout', 'rollback', upgrade?.id ?? '', '--reason', 'the test says so');
    await untilRuns(first);
    expect(await starts()).toEqual(['v1', 'v2', 'v1']);
    await until('the rollback to end', async () => (await rollout(upgrade?.id ?? '')).status === 'rolled_back');
    await lab.registry.start();
  });

  it('has its old container again when the new image crashes, and its operator reads why (field-case 67)', async () => {
    const before = await container(CONTAINER);
    const { id } = await upgradeTo(broken);
    await untilEnded(id);
    expect(await rowOf(id)).toMatchObject({
      status: 'rolled_back',
      error_message: expect.stringContaining('panic: cannot open database: version mismatch'),
    });
    const now = await container(CONTAINER);
    expect(now.Id).toBe(before.Id);
    expect(now.HostConfig).toEqual(before.HostConfig);
    expect(await namesOfContainers()).toEqual([`/${CONTAINER}`]);
    expect(await starts()).toEqual(['v1', 'v2', 'v1', 'v1']);
    await untilRuns(first);
  });

  async function push(version: string, mode = 'run'): Promise<ImageRelease> {
    const config = { Cmd: ['/bin/sh', '-c', NODE_SCRIPT], Env: ['PATH=/bin', `VERSION=${version}`, `MODE=${mode}`] };
    const reference = await lab.registry.push(`node:${version}`, { ...serviceImage({ version }), config });
    return { version, reference, checksum: reference.slice(reference.indexOf('@') + 1) };
  }

  async function operatorsContainer(): Promise<void> {
    const made = await engine.createContainer({
      name: CONTAINER,
      Image: await imageHere(engine, first.reference),
      HostConfig: {
        RestartPolicy: { Name: 'unless-stopped', MaximumRetryCount: 0 },
        Binds: ['chaindata:/data'],
        PortBindings: { '9100/tcp': [{ HostIp: '127.0.0.1', HostPort: '9100' }] },
      },
      ExposedPorts: { '9100/tcp': {} },
    });
    await made.start();
  }

  async function join(): Promise<void> {
    const agent = {
      control_plane: { address: plane.gateway },
      state_dir: '/var/lib/hoodcloud',
      components: [
        {
          binary_name: BINARY,
          data_dir: '/var/lib/validator',
          metrics_url: 'http://127.0.0.1:9100/metrics',
          runtime: { type: 'docker', container: CONTAINER },
        },
      ],
    };
    await host.must('mkdir', '-p', '/var/lib/validator');
    await plane.hoodctl.does('node', 'add', 'dockbox', '--chain', CHAIN, '--type', NODE_TYPE);
    const { join_token } = await plane.hoodctl.asks<JoinTokenView>('node', 'join-token', 'dockbox');
    await installAgent(host, JSON.stringify(agent), join_token);
  }

  async function upgradeTo(release: ImageRelease): Promise<RolloutDetail> {
    const wanted = { version: release.version, checksum: release.checksum, content: Buffer.alloc(0) };
    const upgradeId = writeManifest(plane.configDir, manifestFor(CHAIN, wanted, release.reference));
    const words = ['--chain', CHAIN, '--type', NODE_TYPE, '--upgrade', upgradeId, '--strategy', 'rolling', '--start'];
    return plane.hoodctl.asks<RolloutDetail>('rollout', 'create', ...words);
  }

  const rollout = (id: string) => plane.hoodctl.get<RolloutDetail>(`/rollouts/${id}`);

  function untilEnded(id: string): Promise<RolloutDetail> {
    return until(`rollout ${id} to end`, async () => {
      const now = await rollout(id);
      if (['completed', 'failed', 'paused'].includes(now.status)) return now;
      throw new Error(JSON.stringify({ now, row: await rowOf(id), agent: await agentLog() }));
    });
  }

  async function rowOf(id: string): Promise<RolloutNodeView | undefined> {
    return (await plane.hoodctl.get<{ items: RolloutNodeView[] }>(`/rollouts/${id}/nodes`)).items[0];
  }

  async function untilRuns({ version, checksum }: ImageRelease): Promise<void> {
    await until(`the host to run ${version}`, async () => {
      const [shown] = (await plane.hoodctl.get<{ items: NodeView[] }>('/nodes')).items;
      const running = shown?.components[0];
      const right = running?.binary_version === version && running.running_checksum === checksum;
      if (right && shown?.online && shown.state === 'healthy') return true;
      throw new Error(`${JSON.stringify(shown)}\n${await agentLog()}`);
    });
  }

  const agentLog = () => host.sh('journalctl -u hoodcloud-agent -o cat -n 15 --no-pager');
  const container = (name: string) => engine.getContainer(name).inspect();
  const starts = async () => (await host.sh('cat /var/lib/docker/volumes/chaindata/_data/starts')).trim().split('\n');

  async function namesOfContainers(): Promise<string[]> {
    return (await engine.listContainers({ all: true })).map(({ Names }) => Names[0] ?? '').sort();
  }
});
