import { randomUUID } from 'node:crypto';
import { checksumOf } from '../../host/file-hash.ts';
import { type ConformanceService, describeRuntimeContract } from '../conformance.ts';
import { FakeHost } from './fake-host.ts';
import { FakeRuntime } from './fake-runtime.ts';

describeRuntimeContract('the fake adapter', makeService);

async function makeService(): Promise<ConformanceService> {
  const installedChecksum = checksumOf('old binary');
  const host = new FakeHost(installedChecksum);
  host.configs.set('/etc/node/config.toml', 'peers = 10\n');
  return {
    adapter: () => new FakeRuntime(host),
    installedChecksum,
    offer: async (behaviour) => {
      const url = `https://releases/${randomUUID()}`;
      return { name: 'node', url, checksum: host.publish(url, url, behaviour), member: null };
    },
    configPath: '/etc/node/config.toml',
    newConfigPath: '/etc/node/new.toml',
    forbiddenPath: '/srv/elsewhere.toml',
    readConfig: async (path) => {
      const content = host.configs.get(path);
      return content === undefined ? null : { content, mode: 0o644 };
    },
    backupDir: '/data/.upgrade-backup/attempt-1',
    damageBackup: async (backupDir) => {
      const backup = host.backups.get(backupDir);
      if (backup !== undefined) host.backups.set(backupDir, { ...backup, damaged: true });
    },
    livePids: async () => (host.process === null ? [] : [host.process.pid]),
    crash: async () => host.crash(),
    dispose: async () => undefined,
  };
}
