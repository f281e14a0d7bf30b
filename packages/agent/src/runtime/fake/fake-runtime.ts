import { rm } from 'node:fs/promises';
import { checksumOf } from '../../host/file-hash.ts';
import type { HookRunner } from '../hook-contract.ts';
import type {
  AcquireOptions,
  ArtifactHandle,
  RuntimeAdapter,
  RuntimeStatus,
  StartOptions,
  WantedArtifact,
} from '../runtime-adapter.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import type { FakeHost } from './fake-host.ts';

/** Called before each method with its name; what it throws, the method rejects with. */
export type BeforeCall = (method: string) => void;

/** The adapter's contract over a host in memory; for tests of what stands above adapters. */
export class FakeRuntime implements RuntimeAdapter {
  readonly runtimeType = 'process';
  readonly artifactKind = 'file';
  readonly hooks: HookRunner;
  readonly #host: FakeHost;
  readonly #beforeCall: BeforeCall;

  constructor(host: FakeHost, beforeCall: BeforeCall = () => undefined) {
    this.#host = host;
    this.hooks = fakeHooks(host, beforeCall);
    this.#beforeCall = beforeCall;
  }

  serviceName(): string {
    return 'fake.service';
  }

  async prepare(): Promise<void> {
    this.#beforeCall('prepare');
  }

  async requireReady(): Promise<void> {
    this.#beforeCall('requireReady');
  }

  async warnings(): Promise<string[]> {
    return [];
  }

  async leave(): Promise<void> {
    this.#beforeCall('leave');
    this.#host.held = false;
  }

  async status(): Promise<RuntimeStatus> {
    this.#beforeCall('status');
    const { process, wanted, held, stopping, restarts, installed } = this.#host;
    const waiting = wanted ? 'waiting_restart' : 'stopped';
    return {
      state: process === null ? waiting : stopping ? 'stopping' : 'running',
      wantedRunning: wanted,
      held,
      mainPid: process?.pid ?? null,
      mainPidStartedAt: process?.startedAt ?? null,
      restarts,
      runningChecksum: process?.checksum ?? null,
      installedChecksum: installed,
    };
  }

  async start({ signal }: StartOptions): Promise<void> {
    this.#beforeCall('start');
    signal.throwIfAborted();
    const host = this.#host;
    if (host.stopping) throw new RuntimeError('fence_violated', 'its earlier instance still lives');
    host.held = false;
    host.wanted = true;
    if (host.process === null) {
      host.restarts = 0;
      host.log = [];
      host.spawn();
    }
    if (host.process === null) throw new RuntimeError('start_failed', `it crashed: ${host.log.at(-1)}`);
  }

  async stop(signal: AbortSignal): Promise<void> {
    this.#beforeCall('stop');
    const host = this.#host;
    if (host.process === null && !host.wanted) return;
    host.journal.push('stop');
    host.wanted = false;
    if (host.process === null) return;
    if (host.behaviours.get(host.process.checksum) === 'slow_to_stop') {
      host.stopping = true;
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      throw new RuntimeError('stop_overrun', 'it is still stopping');
    }
    host.process = null;
  }

  async waitUntilGone(signal: AbortSignal): Promise<void> {
    this.#beforeCall('waitUntilGone');
    if (this.#host.stopping) signal.throwIfAborted();
    if (this.#host.stopping) this.#host.process = null;
    this.#host.stopping = false;
    if (this.#host.process !== null && !this.#host.wanted) throw new Error('nobody asked it to stop');
  }

  async hold(): Promise<void> {
    this.#beforeCall('hold');
    this.#host.held = true;
  }

  async release(): Promise<void> {
    this.#beforeCall('release');
    this.#host.held = false;
  }

  async acquireArtifact(artifact: WantedArtifact, { backupDirs, signal }: AcquireOptions): Promise<ArtifactHandle> {
    this.#beforeCall('acquireArtifact');
    signal.throwIfAborted();
    const installed = installedChecksumOf(artifact);
    const kept = backupDirs.some((dir) => this.#host.backups.get(dir)?.installed === installed);
    const offered = kept ? artifact.checksum : this.#host.downloads.get(artifact.url);
    if (offered === undefined) throw new RuntimeError('download_refused', `${artifact.url} answered 404`);
    if (offered !== artifact.checksum) throw new RuntimeError('checksum_mismatch', `${artifact.url} is something else`);
    this.#host.acquired = installed;
    return handleOf(artifact);
  }

  async findAcquiredArtifact(artifact: WantedArtifact): Promise<ArtifactHandle | null> {
    this.#beforeCall('findAcquiredArtifact');
    const known = artifact.installedChecksum ?? (artifact.member === null ? artifact.checksum : null);
    return known !== null && this.#host.acquired === known ? handleOf(artifact) : null;
  }

  async discardArtifact(): Promise<void> {
    this.#beforeCall('discardArtifact');
    this.#host.acquired = null;
  }

  async verifyArtifact(handle: ArtifactHandle): Promise<void> {
    this.#beforeCall('verifyArtifact');
    if (this.#host.acquired !== handle.installedChecksum) throw new RuntimeError('checksum_mismatch', 'it changed');
  }

  async isArtifactInstalled(installedChecksum: string): Promise<boolean> {
    this.#beforeCall('isArtifactInstalled');
    return this.#host.installed === installedChecksum;
  }

  async installArtifact(handle: ArtifactHandle): Promise<void> {
    this.#beforeCall('installArtifact');
    this.#host.journal.push(`install ${handle.installedChecksum}`);
    this.#host.installed = handle.installedChecksum;
    this.#host.acquired = null;
    this.#beforeCall('installArtifact, after the rename');
  }

  async backupState(backupDir: string, configPaths: readonly string[]): Promise<void> {
    this.#beforeCall('backupState');
    configPaths.forEach(confine);
    const configs = new Map(configPaths.map((path) => [path, this.#host.configs.get(path) ?? null]));
    this.#host.backups.set(backupDir, { installed: this.#host.installed, configs });
  }

  async isBackedUp(backupDir: string): Promise<boolean> {
    this.#beforeCall('isBackedUp');
    const backup = this.#host.backups.get(backupDir);
    return backup !== undefined && backup.damaged !== true;
  }

  async removeBackup(backupDir: string): Promise<void> {
    this.#beforeCall('removeBackup');
    this.#host.backups.delete(backupDir);
    await rm(backupDir, { recursive: true, force: true }); // the log of a failed version lies there in truth
  }

  async restoreArtifact(backupDir: string): Promise<void> {
    this.#beforeCall('restoreArtifact');
    this.#host.installed = this.#backup(backupDir).installed;
    this.#host.journal.push(`restore ${this.#host.installed}`);
  }

  async writeConfig(path: string, content: Uint8Array): Promise<void> {
    this.#beforeCall(`writeConfig ${path}`);
    confine(path);
    this.#host.journal.push(`write ${path}`);
    this.#host.configs.set(path, Buffer.from(content).toString());
  }

  async isConfigWritten(path: string, expectedChecksum: string): Promise<boolean> {
    return (await this.configChecksum(path)) === expectedChecksum;
  }

  async readConfig(path: string, maxBytes: number): Promise<Uint8Array | null> {
    this.#beforeCall('readConfig');
    const content = this.#host.configs.get(path);
    return content === undefined || content.length > maxBytes ? null : Buffer.from(content);
  }

  async configChecksum(path: string): Promise<string | null> {
    this.#beforeCall('configChecksum');
    confine(path);
    const content = this.#host.configs.get(path);
    return content === undefined ? null : checksumOf(content);
  }

  async restoreConfig(backupDir: string, path: string): Promise<void> {
    this.#beforeCall(`restoreConfig ${path}`);
    this.#host.journal.push(`restore ${path}`);
    const content = this.#backup(backupDir).configs.get(path) ?? null;
    if (content === null) this.#host.configs.delete(path);
    else this.#host.configs.set(path, content);
  }

  async reloadDaemon(): Promise<void> {
    this.#beforeCall('reloadDaemon');
    this.#host.journal.push('reload');
  }

  async confirm(): Promise<void> {
    this.#beforeCall('confirm');
  }

  async logTail(maxLines: number): Promise<string[]> {
    this.#beforeCall('logTail');
    return this.#host.log.slice(-maxLines);
  }

  #backup(backupDir: string) {
    const backup = this.#host.backups.get(backupDir);
    if (backup === undefined || backup.damaged) throw new RuntimeError('backup_corrupt', `no backup in ${backupDir}`);
    return backup;
  }
}

function confine(path: string): void {
  if (!path.startsWith('/etc/')) throw new RuntimeError('path_refused', `${path} is outside /etc`);
}

function handleOf(artifact: WantedArtifact): ArtifactHandle {
  return { artifact, location: '.download', installedChecksum: installedChecksumOf(artifact) };
}

/** What a member hashes to: another checksum than its archive's, and always the same. */
export function installedChecksumOf({ checksum, member }: Pick<WantedArtifact, 'checksum' | 'member'>): string {
  return member === null ? checksum : checksumOf(`${member} of ${checksum}`);
}

/** Every command ends as the host says, or succeeds, unless `beforeCall` throws for it: then it ends with exit status 1. */
function fakeHooks(host: FakeHost, beforeCall: BeforeCall): HookRunner {
  return {
    check: () => undefined,
    run: async ({ name, command }) => {
      host.journal.push(`hook ${name}: ${command.join(' ')}`);
      try {
        beforeCall(`hook ${name}: ${command.join(' ')}`);
        return { code: 0, killedBy: null, timedOut: false, output: 'done', ...host.commandEnds.shift() };
      } catch (error) {
        return { code: 1, killedBy: null, timedOut: false, output: String(error) };
      }
    },
    end: async (name) => {
      host.journal.push(`end of hook ${name}`);
    },
  };
}
