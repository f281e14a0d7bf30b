import { randomUUID } from 'node:crypto';
import { checksumOf } from '../../host/file-hash.ts';
import type { ConformanceService } from '../contract/contract-sentence.ts';
import { FakeHost } from '../fake/fake-host.ts';
import { FakeRuntime } from '../fake/fake-runtime.ts';
import type { RuntimeAdapter } from '../runtime-adapter.ts';

/** A service on a host in memory. @param adapterOn the adapter under test, by default the fake as it should be */
export async function makeFakeService(
  adapterOn: (host: FakeHost) => RuntimeAdapter = (host) => new FakeRuntime(host),
): Promise<ConformanceService> {
  const installedChecksum = checksumOf('old binary');
  const host = new FakeHost(installedChecksum);
  host.configs.set('/etc/node/config.toml', 'peers = 10\n');
  return {
    adapter: () => adapterOn(host),
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
    letStop: async () => undefined, // a fake one ends when somebody waits for it
    crash: async () => host.crash(),
    dispose: async () => undefined,
  };
}
