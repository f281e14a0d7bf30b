import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { bundledProgram } from '@hoodcloud/testkit/bundled-program';
import { afterAll, beforeAll, vi } from 'vitest';
import { FileHashes } from '../../host/file-hash.ts';
import { describeRuntimeContract } from '../conformance.ts';
import type { ConformanceService } from '../contract/contract-sentence.ts';
import { layFileReleases } from '../testing/file-releases.ts';
import { layServiceConfigs } from '../testing/service-configs.ts';
import { ProcessAdapter } from './process-adapter.ts';
import { processesOfService } from './service-processes.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let server: ArtifactServer;
let bundles: string;
beforeAll(async () => {
  server = await ArtifactServer.listen();
  bundles = await mkdtemp(join(tmpdir(), 'hoodcloud-supervisor-'));
  const program = await bundledProgram(new URL('./supervisor-main.ts', import.meta.url));
  await writeFile(join(bundles, 'supervisor.mjs'), program);
});
afterAll(async () => {
  await server.close();
  await rm(bundles, { recursive: true });
});

describeRuntimeContract('the process adapter', makeService);

async function makeService(): Promise<ConformanceService> {
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-process-'));
  const stateDir = join(folder, 'state');
  const { configRoot, ...configs } = await layServiceConfigs(folder);
  const { installPath, script, ...releases } = await layFileReleases(folder, server);
  const adapter = () =>
    new ProcessAdapter(
      {
        binaryName: 'node',
        installPath,
        dataDir: join(folder, 'data'),
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
  /** The children of the script are processes of the service too; instances are those that run an artifact. */
  const livePids = async () => {
    const processes = await processesOfService(serviceFolder);
    const states = await Promise.all(processes.map(async ({ pid }) => ({ pid, name: await commandOf(pid) })));
    return states.filter(({ name }) => name.includes(script)).map(({ pid }) => pid);
  };
  return {
    ...configs,
    ...releases,
    adapter,
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
