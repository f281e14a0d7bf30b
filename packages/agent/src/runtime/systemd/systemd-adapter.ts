import { FileArtifact } from '../file-artifact.ts';
import type {
  AcquireOptions,
  ArtifactHandle,
  RuntimeAdapter,
  RuntimeStatus,
  StartOptions,
  WantedArtifact,
} from '../runtime-adapter.ts';
import { type SystemdParts, SystemdService } from './systemd-service.ts';

/** One component under systemd, from the agent's own file (A17). */
export interface SystemdComponent {
  /** Full name of the unit, e.g. `cometbft.service`. */
  readonly unit: string;
  readonly installPath: string;
  readonly configRoots: readonly string[];
  readonly allowHttpHosts: readonly string[];
  readonly holdDir?: string;
}

/** A binary, its configs and the systemd unit that runs it (spec "Systemd Adapter"). The contract is the interface's. */
export class SystemdAdapter implements RuntimeAdapter {
  readonly runtimeType = 'systemd';
  readonly artifactKind = 'file';
  readonly #service: SystemdService;
  readonly #files: FileArtifact;

  constructor(component: SystemdComponent, parts: SystemdParts) {
    this.#service = new SystemdService(component, parts);
    this.#files = new FileArtifact({ ...component, hashes: parts.hashes });
  }

  serviceName(): string {
    return this.#service.unit;
  }

  prepare(): Promise<void> {
    return this.#service.prepare();
  }

  leave(): Promise<void> {
    return this.#service.leave();
  }

  status(): Promise<RuntimeStatus> {
    return this.#service.status();
  }

  start(options: StartOptions): Promise<void> {
    return this.#service.start(options);
  }

  stop(signal: AbortSignal): Promise<void> {
    return this.#service.stop(signal);
  }

  waitUntilGone(signal: AbortSignal): Promise<void> {
    return this.#service.waitUntilGone(signal);
  }

  hold(): Promise<void> {
    return this.#service.hold();
  }

  release(): Promise<void> {
    return this.#service.release();
  }

  acquireArtifact(artifact: WantedArtifact, options: AcquireOptions): Promise<ArtifactHandle> {
    return this.#files.acquire(artifact, options);
  }

  findAcquiredArtifact(artifact: WantedArtifact): Promise<ArtifactHandle | null> {
    return this.#files.findAcquired(artifact);
  }

  discardArtifact(artifact: WantedArtifact): Promise<void> {
    return this.#files.discard(artifact);
  }

  verifyArtifact(handle: ArtifactHandle, signal: AbortSignal): Promise<void> {
    return this.#files.verify(handle, signal);
  }

  async isArtifactInstalled(installedChecksum: string): Promise<boolean> {
    return (await this.#files.installedChecksum()) === installedChecksum;
  }

  installArtifact(handle: ArtifactHandle): Promise<void> {
    return this.#files.install(handle);
  }

  backupState(backupDir: string, configPaths: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#files.backUp(backupDir, configPaths, signal);
  }

  isBackedUp(backupDir: string): Promise<boolean> {
    return this.#files.isBackedUp(backupDir);
  }

  restoreArtifact(backupDir: string): Promise<void> {
    return this.#files.restore(backupDir);
  }

  writeConfig(path: string, content: Uint8Array): Promise<void> {
    return this.#files.writeConfig(path, content);
  }

  isConfigWritten(path: string, expectedChecksum: string): Promise<boolean> {
    return this.#files.isConfigWritten(path, expectedChecksum);
  }

  configChecksum(path: string): Promise<string | null> {
    return this.#files.configChecksum(path);
  }

  restoreConfig(backupDir: string, path: string): Promise<void> {
    return this.#files.restoreConfig(backupDir, path);
  }

  reloadDaemon(): Promise<void> {
    return this.#service.reloadDaemon();
  }

  /** Nothing is kept for an undo besides the backup, whose pruning is the attempt store's (A13). */
  async confirm(): Promise<void> {
    return;
  }

  logTail(maxLines: number): Promise<string[]> {
    return this.#service.logTail(maxLines);
  }
}
