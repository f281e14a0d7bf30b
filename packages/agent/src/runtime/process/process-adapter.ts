import { join } from 'node:path';
import type { ProcessRuntimeConfig } from '../../agent-config.ts';
import type { FileHashes } from '../../host/file-hash.ts';
import { FileAdapter } from '../file-adapter.ts';
import type { HookRunner } from '../hook-contract.ts';
import type { RuntimeAdapter, RuntimeStatus, StartOptions } from '../runtime-adapter.ts';
import { ProcessHooks } from './process-hooks.ts';
import { ProcessService } from './process-service.ts';
import { supervisorCommand } from './supervisor-command.ts';

const LOG_MAX_BYTES = 64 * 1024 * 1024;

/** One component that runs as a plain process, from the agent's own file (A17). */
export interface ProcessComponent {
  readonly binaryName: string;
  readonly installPath: string;
  readonly releasesDir?: string | null;
  readonly configRoots: readonly string[];
  readonly allowHttpHosts: readonly string[];
  readonly signedBy?: readonly string[] | undefined;
  readonly runtime: ProcessRuntimeConfig;
  readonly stateDir: string;
  readonly dataDir: string;
  readonly hookPrograms?: readonly string[];
}

/** A binary, its configs and our own supervisor that runs it (A16). The contract is the interface's. */
export class ProcessAdapter extends FileAdapter implements RuntimeAdapter {
  readonly runtimeType = 'process';
  readonly hooks: HookRunner;
  readonly #service: ProcessService;

  /** @param parts `supervisorCommand` is that of this program unless it is given */
  constructor(
    component: ProcessComponent,
    parts: {
      readonly hashes: FileHashes;
      readonly supervisorCommand?: readonly [program: string, ...args: string[]];
    },
  ) {
    super({ ...component, hashes: parts.hashes });
    const { binaryName, runtime, stateDir } = component;
    this.hooks = new ProcessHooks({ ...runtime, ...component, hookPrograms: component.hookPrograms ?? [] });
    this.#service = new ProcessService({
      folder: join(stateDir, 'process', binaryName),
      name: binaryName,
      nodeFiles: component,
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

  override requireReady(): Promise<void> {
    return this.#service.requireReady();
  }

  leave(): Promise<void> {
    return this.#service.leave();
  }

  async status(): Promise<RuntimeStatus> {
    return this.#service.status(await this.installedChecksum(), await this.target());
  }

  protected override async serviceProcess(): Promise<number | null> {
    return (await this.status()).mainPid;
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
