import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { afterAll, beforeAll } from 'vitest';
import { FileHashes } from '../../host/file-hash.ts';
import { executableOf } from '../../host/process-table.ts';
import { describeRuntimeContract } from '../conformance.ts';
import type { ConformanceService } from '../contract/contract-sentence.ts';
import { layFileReleases } from '../testing/file-releases.ts';
import { layServiceConfigs } from '../testing/service-configs.ts';
import { Systemctl } from './systemctl.ts';
import { SystemdAdapter } from './systemd-adapter.ts';

const systemctl = (...args: string[]) => promisify(execFile)('systemctl', args);

let server: ArtifactServer;
let services = 0;
beforeAll(async () => {
  server = await ArtifactServer.listen();
});
afterAll(() => server.close());

describeRuntimeContract('the systemd adapter', makeService);

async function makeService(): Promise<ConformanceService> {
  const folder = await mkdtemp('/var/tmp/conformance-');
  const unit = `conformance-${services++}.service`;
  const unitFile = `/etc/systemd/system/${unit}`;
  const { configRoot, ...configs } = await layServiceConfigs(folder);
  const { installPath, script, ...releases } = await layFileReleases(folder, server);
  const start = `ExecStart=${installPath} ${script}\nRestart=always\nRestartSec=1`;
  // how a start limit is dealt with is unit-starts' matter; here it would end the wait for a next start on a busy machine
  const unlimited = '[Unit]\nStartLimitIntervalSec=0';
  await writeFile(unitFile, `${unlimited}\n[Service]\n${start}\n[Install]\nWantedBy=multi-user.target\n`);
  await systemctl('enable', '--quiet', unit);
  const dataDir = join(folder, 'data');
  const component = { unit, installPath, dataDir, configRoots: [configRoot], allowHttpHosts: ['127.0.0.1'] };
  const adapter = () => new SystemdAdapter(component, { systemctl: new Systemctl(), hashes: new FileHashes() });
  return {
    ...configs,
    ...releases,
    adapter,
    livePids: () => pidsRunning(installPath),
    crash: async () => {
      const [pid] = await pidsRunning(installPath);
      if (pid === undefined) throw new Error('nothing runs');
      process.kill(pid, 'SIGKILL');
    },
    dispose: async () => {
      await systemctl('disable', '--now', '--quiet', unit);
      await adapter().leave();
      await rm(unitFile);
      await rm(folder, { recursive: true });
    },
  };
}

/** Found by looking at every process of the host, not through the unit. */
async function pidsRunning(executable: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const paths = await Promise.all(pids.map(executableOf));
  return pids.filter((_, index) => paths[index] === executable);
}
