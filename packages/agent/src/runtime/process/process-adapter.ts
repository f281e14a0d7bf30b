import { join } from 'node:path';
import type { ProcessRuntimeConfig } from '../../agent-config.ts';
import type { FileHashes } from '../../host/file-hash.ts';
import { FileArtifact } from '../file-artifact.ts';
import type {
  AcquireOptions,
  ArtifactHandle,
  RuntimeAdapter,
  RuntimeStatus,
  StartOptions,
  WantedArtifact,
} from '../runtime-adapter.ts';
import { ProcessService } from './process-service.ts';
import { supervisorCommand } from './supervisor-command.ts';

const LOG_MAX_BYTES = 64 * 1024 * 1024;

/** One component that runs as a plain process, from the agent's own file (A17). */
export interface ProcessComponent {
  readonly binaryName: string;
  readonly installPath: string;
  readonly configRoots: readonly string[];
  readonly allowHttpHosts: readonly string[];
  readonly runtime: ProcessRuntimeConfig;
  readonly stateDir: string;
}

/** A binary, its configs and our own supervisor that runs it (A16). The contract is the interface's. */
export class ProcessAdapter implements RuntimeAdapter {
  readonly runtimeType = 'process';
  readonly artifactKind = 'file';
  readonly #service: ProcessService;
  readonly #files: FileArtifact;

  /** @param parts `supervisorCommand` is that of this program unless it is given */
  constructor(
    component: ProcessComponent,
    parts: {
      readonly hashes: FileHashes;
      readonly supervisorCommand?: readonly [program: string, ...args: string[]];
    },
  ) {
    const { binaryName, runtime, stateDir } = component;
    this.#files = new FileArtifact({ ...component, hashes: parts.hashes });
    this.#service = new ProcessService({
      folder: join(stateDir, 'process', binaryName),
      name: binaryName,
      autostart: runtime.autostart,
      hashes: parts.hashes,
      supervisorCommand: parts.supervisorCommand ?? supervisorCommand(),
      spec: {
        command: runtime.command,
        cwd: runtime.cwd,
        env: runtime.env,
        user: runtime.user,
        stopSignal: runtime.stop_signal,
        restartDelayMs: runtime.restart_delay_ms,
        logMaxBytes: LOG_MAX_BYTES,
      },
    });
  }

  serviceName(): string {
    return this.#service.name;
  }

  prepare(): Promise<void> {
    return this.#service.prepare();
  }

  leave(): Promise<void> {
    return this.#service.leave();
  }

  async status(): Promise<RuntimeStatus> {
    return this.#service.status(await this.#files.installedChecksum(), await this.#files.target());
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

  /** There are no definitions to read again: the supervisor reads its own before each start. */
  async reloadDaemon(): Promise<void> {
    return;
  }

  /** Nothing is kept for an undo besides the backup, whose pruning is the attempt store's (A13). */
  async confirm(): Promise<void> {
    return;
  }

  logTail(maxLines: number): Promise<string[]> {
    return this.#service.logTail(maxLines);
  }

  /** Stops the node and ends its supervisor; for the end of a demonstration or a test. */
  shutDown(signal: AbortSignal): Promise<void> {
    return this.#service.shutDown(signal);
  }
}
