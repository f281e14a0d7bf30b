import { join } from 'node:path';
import { putHome } from '@hoodcloud/testkit/chains/cometbft-host';
import { createNetwork, DEFAULT_PORTS } from '@hoodcloud/testkit/chains/cometbft-network';
import { programImage } from '@hoodcloud/testkit/chains/program-image';
import { createDockerLab } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { COMPOSE, installCompose } from '../swap/compose.ts';
import { type Binaries, type LiveNode, RELEASES, type Release } from './live-node.ts';

const NAME = 'cometbft';
const HOME = '/cometbft';
const VOLUME = 'cometbft-data';
const { rpcPort } = DEFAULT_PORTS;
type Network = 'host_network' | 'published_port';
const NETWORKS: Readonly<Record<Network, string>> = {
  host_network: '--network host',
  published_port: `--publish ${rpcPort}:${rpcPort}`,
};

/**
 * A validator in a container of its host's engine. By hand, the image pulled before: stop, rename, create, start with
 * the docker client in one shell. Beside it the least that the engine can do: the new container made beforehand, stop
 * and start through the engine's API alone.
 */
export async function nodeInDocker(binaries: Binaries, network: Network): Promise<LiveNode> {
  const { byHand, node } = await containerOf(binaries, network);
  return { ...node, byHand };
}

/** The same node, and by hand `docker-compose up -d` with the new image in its file. Each change begins with a container of its own kind. */
export async function nodeInCompose(binaries: Binaries, network: Network): Promise<LiveNode> {
  const { node, references, create, pull } = await containerOf(binaries, network);
  const { host } = node;
  await installCompose(host);
  for (const release of RELEASES) {
    const service = {
      image: references[release],
      container_name: NAME,
      command: ['start', '--home', HOME],
      restart: 'unless-stopped',
      stop_signal: 'SIGTERM',
      stop_grace_period: '180s',
      volumes: [`${VOLUME}:${HOME}`],
      ...(network === 'host_network' ? { network_mode: 'host' } : { ports: [`${rpcPort}:${rpcPort}`] }),
    };
    const file = { name: 'bench', services: { node: service }, volumes: { [VOLUME]: { external: true } } };
    await host.writeFile(fileOf(release), JSON.stringify(file)); // JSON is YAML
  }
  const up = (release: Release) => host.must(COMPOSE, '--file', fileOf(release), 'up', '--detach', '--quiet-pull');
  let current: Release = 'v0.38.17';
  const anew = async (begin: (release: Release) => Promise<unknown>) => {
    await host.must('docker', 'rm', '--force', NAME);
    await begin(current);
  };
  const changed = (to: Release) => {
    current = to;
  };
  return {
    ...node,
    artifactOf: (release) => {
      changed(release); // asked once a change, right before it
      return node.artifactOf(release);
    },
    handOver: () => anew((release) => host.sh(`${create(NAME, release)} && docker start ${NAME}`)),
    byHand: {
      compose: {
        prepare: async (to) => {
          await pull(to);
          await anew(up);
        },
        change: async (to) => {
          await up(to);
          changed(to);
        },
        tidy: async () => undefined,
      },
    },
  };
}

const fileOf = (release: Release) => `/etc/compose/${release}.yaml`;

async function containerOf(binaries: Binaries, network: Network) {
  const { lab, host } = await createDockerLab('bench');
  const references = {} as Record<Release, string>;
  for (const { release, path } of Object.values(binaries)) {
    references[release] = await lab.registry.push(`cometbft:${release}`, await programImage(NAME, path, HOME));
  }
  const create = (name: string, release: Release) =>
    `docker create --name ${name} ${NETWORKS[network]} --volume ${VOLUME}:${HOME} --restart unless-stopped ` +
    `--stop-signal SIGTERM --stop-timeout 180 ${references[release]} start --home ${HOME} >/dev/null`;
  const pull = (release: Release) => host.must('docker', 'pull', '--quiet', references[release]);
  const api = (path: string) =>
    `curl --silent --fail --unix-socket /run/docker.sock -X POST 'http://engine/containers/${path}'`;

  for (const release of ['v0.38.21', 'v0.38.17'] as const) await pull(release);
  await host.sh(create(NAME, 'v0.38.17'));
  const listenAt = network === 'host_network' ? host.ip : '0.0.0.0';
  const places = [{ name: 'bench', host: listenAt, ...DEFAULT_PORTS }];
  const dir = join(lab.hosts.dir, 'network');
  const [validator] = await createNetwork({ binary: binaries['v0.38.17'].path, dir, places });
  if (validator === undefined) throw new Error('the network has no validator');
  await putHome(host, validator, `/var/lib/docker/volumes/${VOLUME}/_data`, '1000:1000');
  await host.must('docker', 'start', NAME);

  const steps = (to: Release) =>
    [`docker stop ${NAME}`, `docker rename ${NAME} ${NAME}.old`, create(NAME, to), `docker start ${NAME}`].join(' && ');
  const node: Omit<LiveNode, 'byHand'> = {
    host,
    rpcPort,
    agentConfig: {
      control_plane: { address: `${lab.hosts.controlAddress}:1` },
      state_dir: '/var/lib/hoodcloud',
      components: [{ binary_name: NAME, data_dir: '/var/lib/hoodcloud', runtime: { type: 'docker', container: NAME } }],
    },
    artifactOf: (release) => {
      const url = references[release];
      return { kind: 'ARTIFACT_KIND_IMAGE', url, checksum: url.slice(url.indexOf('@') + 1) };
    },
    own: { stop: `docker stop ${NAME}`, start: `docker start ${NAME}` },
    dispose: () => lab.clean(),
  };
  const byHand: LiveNode['byHand'] = {
    bare_steps: {
      prepare: async (to) => void (await pull(to)),
      change: async (to) => void (await host.sh(steps(to))),
      tidy: async () => void (await host.must('docker', 'rm', `${NAME}.old`)),
    },
    made_beforehand_by_api: {
      prepare: async (to) => {
        await pull(to);
        await host.sh(create(`${NAME}.new`, to));
      },
      change: async () => void (await host.sh(`${api(`${NAME}/stop`)} && ${api(`${NAME}.new/start`)}`)),
      tidy: async () => void (await host.sh(`docker rm ${NAME} && docker rename ${NAME}.new ${NAME}`)),
    },
  };
  return { node, byHand, references, create, pull };
}
