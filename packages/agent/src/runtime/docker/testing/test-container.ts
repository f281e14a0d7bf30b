import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { imageHere } from '@hoodcloud/testkit/docker-lab/image-pull';
import { serviceImage } from '@hoodcloud/testkit/docker-lab/service-image';
import { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import Docker from 'dockerode';
import { errnoOf } from '../../../agent-error.ts';
import { FileHashes } from '../../../host/file-hash.ts';
import { writeWithFolders } from '../../conformance.ts';
import type { ArtifactBehaviour, ConformanceService } from '../../contract/contract-sentence.ts';
import type { WantedArtifact } from '../../runtime-adapter.ts';
import { TEST_NODE_SCRIPT } from '../../test-artifacts.ts';
import { layServiceConfigs } from '../../testing/service-configs.ts';
import { DockerAdapter } from '../docker-adapter.ts';
import { Engine } from '../engine.ts';
import { parsePinned } from '../image-reference.ts';

export const SOCKET = '/run/docker.sock';
const SERVICE = 'CONFORMANCE_SERVICE';

/** The engine as tests see it, not through the adapter. */
export const docker = new Docker({ socketPath: SOCKET });

export interface TestContainer extends ConformanceService {
  readonly name: string;
  readonly folder: string;
  readonly adapter: (engine?: Engine) => DockerAdapter;
}

/** A registry of this host; 127.0.0.0/8 needs no TLS for the engine. */
export async function startRegistry(credentials = false): Promise<TestRegistry> {
  const folder = await mkdtemp('/var/tmp/registry-');
  const registry = new TestRegistry({ folder, listenAt: '127.0.0.1', credentials });
  await registry.start();
  return registry;
}

let containers = 0;

/** A container that an operator made from an image that runs; not started. `more` is laid over its `HostConfig`. */
export async function makeContainer(
  registry: TestRegistry,
  more: Docker.ContainerCreateOptions['HostConfig'] = {},
): Promise<TestContainer> {
  const folder = await mkdtemp('/var/tmp/container-');
  const name = `node-${containers++}`;
  const { configRoot, ...configs } = await layServiceConfigs(folder);
  const installed = await release(registry, 'runs');
  await docker.createContainer({
    name,
    Image: await imageHere(docker, installed.url),
    Env: [`${SERVICE}=${name}`],
    HostConfig: { RestartPolicy: { Name: 'always' }, Binds: [`${configRoot}:/etc/node`], ...more },
  });
  const component = { binaryName: name, container: name, configRoots: [configRoot], stateDir: join(folder, 'state') };
  return {
    ...configs,
    name,
    folder,
    adapter: (engine = new Engine(SOCKET)) => new DockerAdapter(component, { engine, hashes: new FileHashes() }),
    installedChecksum: installed.checksum,
    offer: (behaviour) => release(registry, behaviour),
    damageBackup: (backupDir) => writeWithFolders(join(backupDir, 'container.json'), 'damaged', 0o600),
    livePids: () => mainPidsOf(name),
    letStop: () => writeFile(join(configRoot, 'may-stop'), ''),
    crash: async () => {
      const [pid] = await mainPidsOf(name);
      if (pid === undefined) throw new Error('nothing runs');
      process.kill(pid, 'SIGKILL');
    },
    dispose: async () => {
      for (const { Id } of await containersOf(name)) await docker.getContainer(Id).remove({ force: true, v: true });
      await rm(folder, { recursive: true });
    },
  };
}

/** Every container whose name begins with the service's, as `docker ps -a` shows them. */
export function containersOf(name: string): Promise<Docker.ContainerInfo[]> {
  return docker.listContainers({ all: true, filters: { name: [`^/${name}(\\.|$)`] } });
}

/** An image of its own each time, pushed and not pulled: the test node behaves as told. */
export async function release(
  registry: TestRegistry,
  behaviour: ArtifactBehaviour,
  architecture?: string,
): Promise<WantedArtifact> {
  const { layers } = serviceImage({ version: 'base' });
  const config = {
    Cmd: ['/bin/sh', '-c', TEST_NODE_SCRIPT],
    Env: ['PATH=/bin', `BEHAVIOUR=${behaviour}`, `RELEASE=${randomUUID()}`, 'MAY_STOP=/etc/node/may-stop'],
  };
  const url = await registry.push('node:latest', { layers, config, ...(architecture ? { architecture } : {}) });
  return { name: 'node', url, checksum: parsePinned(url)?.digest ?? '', member: null };
}

/** Found by looking at every process of the host, not through the engine: the first ones of a container of this service. */
async function mainPidsOf(name: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const ours = await Promise.all(pids.map((pid) => isMainOf(pid, name)));
  return pids.filter((_, index) => ours[index]);
}

async function isMainOf(pid: number, name: string): Promise<boolean> {
  try {
    const [environment, status] = await Promise.all(
      ['environ', 'status'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
    );
    const isFirst = /^NSpid:.*\t1$/m.test(status ?? '') && !/^State:\tZ/m.test(status ?? '');
    return isFirst && (environment ?? '').split('\0').includes(`${SERVICE}=${name}`);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ESRCH') return false; // it has ended meanwhile
    throw error;
  }
}
