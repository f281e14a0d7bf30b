import { FileAdapter } from '../file-adapter.ts';
import type { HookRunner } from '../hook-contract.ts';
import { noHooks } from '../hook-runner.ts';
import type { RuntimeAdapter, RuntimeStatus, StartOptions } from '../runtime-adapter.ts';
import { type SystemdParts, SystemdService } from './systemd-service.ts';
import { UnitHooks } from './unit-hooks.ts';

/** One component under systemd, from the agent's own file (A17). */
export interface SystemdComponent {
  /** Full name of the unit, e.g. `cometbft.service`. */
  readonly unit: string;
  readonly installPath: string;
  readonly releasesDir?: string | null;
  readonly configRoots: readonly string[];
  readonly allowHttpHosts: readonly string[];
  readonly signedBy?: readonly string[] | undefined;
  readonly dataDir: string;
  readonly hookPrograms?: readonly string[];
  readonly holdDir?: string;
  /** Only the unit's main process is the component; the others outlive it by design (`KillMode=process`). */
  readonly childrenStay?: boolean;
}

/** A binary, its configs and the systemd unit that runs it (spec "Systemd Adapter"). The contract is the interface's. */
export class SystemdAdapter extends FileAdapter implements RuntimeAdapter {
  readonly runtimeType = 'systemd';
  readonly hooks: HookRunner;
  readonly #service: SystemdService;

  constructor(component: SystemdComponent, parts: SystemdParts) {
    super({ ...component, hashes: parts.hashes });
    const { unit, hookPrograms = [] } = component;
    this.hooks = component.childrenStay
      ? noHooks('steps of the vendor are not run for the agent itself: leave hooks out')
      : new UnitHooks(unit, { ...component, hookPrograms }, parts.systemctl);
    this.#service = new SystemdService(component, parts);
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

  override requireReady(): Promise<void> {
    return this.#service.requireReady();
  }

  override async warnings(): Promise<string[]> {
    return [...(await super.warnings()), ...(await this.#service.warnings())];
  }

  hold(): Promise<void> {
    return this.#service.hold();
  }

  release(): Promise<void> {
    return this.#service.release();
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
