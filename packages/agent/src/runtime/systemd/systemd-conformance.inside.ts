import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { afterAll, beforeAll } from 'vitest';
import { checksumOf, FileHashes } from '../../host/file-hash.ts';
import { executableOf } from '../../host/process-table.ts';
import {
  type ArtifactBehaviour,
  backupCopy,
  type ConformanceService,
  describeRuntimeContract,
  writeWithFolders,
} from '../conformance.ts';
import { TEST_NODE_SCRIPT, testArtifact } from '../test-artifacts.ts';
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
  const installPath = join(folder, 'bin', 'node');
  const script = join(folder, 'node.sh');
  const configRoot = join(folder, 'config');
  const old = await testArtifact('runs');
  await writeWithFolders(installPath, old, 0o755);
  await writeWithFolders(script, TEST_NODE_SCRIPT, 0o644);
  await writeWithFolders(join(configRoot, 'config.toml'), 'peers = 10\n', 0o640);
  const start = `ExecStart=${installPath} ${script}\nRestart=always\nRestartSec=1`;
  await writeFile(unitFile, `[Service]\n${start}\n[Install]\nWantedBy=multi-user.target\n`);
  await systemctl('enable', '--quiet', unit);
  const component = { unit, installPath, configRoots: [configRoot], allowHttpHosts: ['127.0.0.1'] };
  const adapter = () => new SystemdAdapter(component, { systemctl: new Systemctl(), hashes: new FileHashes() });
  let offered = 0;
  return {
    adapter,
    installedChecksum: checksumOf(old),
    offer: async (behaviour: ArtifactBehaviour) => {
      const content = await testArtifact(behaviour);
      const url = server.publish(`${unit}/${offered++}`, content);
      return { name: 'node', url, checksum: checksumOf(content), member: null };
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
