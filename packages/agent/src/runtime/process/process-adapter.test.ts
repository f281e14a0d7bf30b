import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { afterAll, beforeAll, vi } from 'vitest';
import { checksumOf, FileHashes } from '../../host/file-hash.ts';
import { bundleAgentProgram } from '../../testing/bundle-agent.ts';
import {
  type ArtifactBehaviour,
  backupCopy,
  type ConformanceService,
  describeRuntimeContract,
  writeWithFolders,
} from '../conformance.ts';
import { TEST_NODE_SCRIPT, testArtifact } from '../test-artifacts.ts';
import { ProcessAdapter } from './process-adapter.ts';
import { processesOfService } from './service-processes.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let server: ArtifactServer;
let bundles: string;
beforeAll(async () => {
  server = await ArtifactServer.listen();
  bundles = await mkdtemp(join(tmpdir(), 'hoodcloud-supervisor-'));
  await bundleAgentProgram(new URL('./supervisor-main.ts', import.meta.url), join(bundles, 'supervisor.mjs'));
});
afterAll(async () => {
  await server.close();
  await rm(bundles, { recursive: true });
});

describeRuntimeContract('the process adapter', makeService);

async function makeService(): Promise<ConformanceService> {
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-process-'));
  const installPath = join(folder, 'bin', 'node');
  const script = join(folder, 'node.sh');
  const configRoot = join(folder, 'config');
  const stateDir = join(folder, 'state');
  const old = await testArtifact('runs');
  await writeWithFolders(installPath, old, 0o755);
  await writeWithFolders(script, TEST_NODE_SCRIPT, 0o644);
  await writeWithFolders(join(configRoot, 'config.toml'), 'peers = 10\n', 0o640);
  const adapter = () =>
    new ProcessAdapter(
      {
        binaryName: 'node',
        installPath,
        configRoots: [configRoot],
        allowHttpHosts: ['127.0.0.1'],
        stateDir,
        runtime: {
          type: 'process',
          command: [installPath, script],
          cwd: folder,
          env: {},
          user: null,
          stop_signal: 'SIGTERM',
          restart_delay_ms: 200,
          autostart: false,
        },
      },
      { hashes: new FileHashes(), supervisorCommand: [process.execPath, join(bundles, 'supervisor.mjs')] },
    );
  const serviceFolder = join(stateDir, 'process', 'node');
  let offered = 0;
  /** The children of the script are processes of the service too; instances are those that run an artifact. */
  const livePids = async () => {
    const processes = await processesOfService(serviceFolder);
    const states = await Promise.all(processes.map(async ({ pid }) => ({ pid, name: await commandOf(pid) })));
    return states.filter(({ name }) => name.includes(script)).map(({ pid }) => pid);
  };
  return {
    adapter,
    installedChecksum: checksumOf(old),
    offer: async (behaviour: ArtifactBehaviour) => {
      const content = await testArtifact(behaviour);
      return {
        name: 'node',
        url: server.publish(`${folder}/${offered++}`, content),
        checksum: checksumOf(content),
        member: null,
      };
    },
    configPath: join(configRoot, 'config.toml'),
    newConfigPath: join(configRoot, 'new.toml'),
    forbiddenPath: join(folder, 'elsewhere.toml'),
    readConfig: async (path) => {
      const content = await readFile(path, 'utf8').catch(() => null);
      return content === null ? null : { content, mode: (await stat(path)).mode & 0o7777 };
    },
    backupDir: join(folder, 'data', '.upgrade-backup', 'attempt-1'),
    damageBackup: (backupDir) => writeWithFolders(backupCopy(backupDir, 'node'), 'damaged', 0o600),
    livePids,
    crash: async () => {
      const { mainPid } = await adapter().status();
      if (mainPid === null) throw new Error('nothing runs');
      process.kill(mainPid, 'SIGKILL');
    },
    dispose: async () => {
      await adapter().shutDown(AbortSignal.timeout(20_000));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}
