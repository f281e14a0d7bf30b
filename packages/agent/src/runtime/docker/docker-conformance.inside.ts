import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { serviceImage } from '@hoodcloud/testkit/docker-lab/service-image';
import { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import Docker from 'dockerode';
import { afterAll, beforeAll } from 'vitest';
import { FileHashes } from '../../host/file-hash.ts';
import {
  type ArtifactBehaviour,
  type ConformanceService,
  describeRuntimeContract,
  writeWithFolders,
} from '../conformance.ts';
import { TEST_NODE_SCRIPT } from '../test-artifacts.ts';
import { DockerAdapter } from './docker-adapter.ts';
import { parsePinned } from './image-reference.ts';

const engine = new Docker({ socketPath: '/run/docker.sock' });
const SERVICE = 'CONFORMANCE_SERVICE';

let registry: TestRegistry;
let services = 0;
beforeAll(async () => {
  registry = new TestRegistry({ folder: await mkdtemp('/var/tmp/registry-'), listenAt: '127.0.0.1' });
  await registry.start();
});
afterAll(() => registry.stop());

describeRuntimeContract('the Docker adapter', makeService);

async function makeService(): Promise<ConformanceService> {
  const folder = await mkdtemp('/var/tmp/conformance-');
  const name = `conformance-${services++}`;
  const configRoot = join(folder, 'config');
  await writeWithFolders(join(configRoot, 'config.toml'), 'peers = 10\n', 0o640);
  const old = await pushed('runs');
  await pulled(old);
  await engine.createContainer({
    name,
    Image: old,
    Env: [`${SERVICE}=${name}`],
    HostConfig: { RestartPolicy: { Name: 'always' }, Binds: [`${configRoot}:/etc/node`] },
  });
  const adapter = () =>
    new DockerAdapter(
      {
        binaryName: name,
        container: name,
        socketPath: '/run/docker.sock',
        configRoots: [configRoot],
        stateDir: join(folder, 'state'),
      },
      { hashes: new FileHashes() },
    );
  return {
    adapter,
    installedChecksum: digestOf(old),
    offer: async (behaviour) => {
      const url = await pushed(behaviour);
      return { name: 'node', url, checksum: digestOf(url), member: null };
    },
    configPath: join(configRoot, 'config.toml'),
    newConfigPath: join(configRoot, 'new.toml'),
    forbiddenPath: join(folder, 'elsewhere.toml'),
    readConfig: async (path) => {
      const content = await readFile(path, 'utf8').catch(() => null);
      return content === null ? null : { content, mode: (await stat(path)).mode & 0o7777 };
    },
    backupDir: join(folder, 'data', '.upgrade-backup', 'attempt'),
    damageBackup: (backupDir) => writeWithFolders(join(backupDir, 'container.json'), 'damaged', 0o600),
    livePids: () => mainPidsOf(name),
    crash: async () => {
      const [pid] = await mainPidsOf(name);
      if (pid === undefined) throw new Error('nothing runs');
      process.kill(pid, 'SIGKILL');
    },
    dispose: async () => {
      const all = await engine.listContainers({ all: true, filters: { name: [`^/${name}(\\.|$)`] } });
      for (const { Id } of all) await engine.getContainer(Id).remove({ force: true, v: true });
      await rm(folder, { recursive: true });
    },
  };
}

/** An image of its own each time: the test node behaves as told. */
function pushed(behaviour: ArtifactBehaviour): Promise<string> {
  const image = serviceImage({ version: 'base' });
  const config = {
    Cmd: ['/bin/sh', '-c', TEST_NODE_SCRIPT],
    Env: ['PATH=/bin', `BEHAVIOUR=${behaviour}`, `RELEASE=${randomUUID()}`],
  };
  return registry.push('node:latest', { ...image, config });
}

async function pulled(reference: string): Promise<void> {
  const stream = await engine.createImage({ fromImage: reference });
  await new Promise((resolve, reject) => {
    engine.modem.followProgress(stream, (error, done) => (error ? reject(error) : resolve(done)));
  });
}

function digestOf(reference: string): string {
  return parsePinned(reference)?.digest ?? '';
}

/** Found by looking at every process of the host, not through the engine: the first ones of a container of this service. */
async function mainPidsOf(name: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const ours = await Promise.all(
    pids.map(async (pid) => {
      const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
      const [environment, status] = await Promise.all([read('environ'), read('status')]);
      const isFirst = /^NSpid:.*\t1$/m.test(status) && !/^State:\tZ/m.test(status);
      return isFirst && environment.split('\0').includes(`${SERVICE}=${name}`);
    }),
  );
  return pids.filter((_, index) => ours[index]);
}
