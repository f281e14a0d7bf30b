import { basename, dirname, join } from 'node:path';
import type { FileHashes } from '../../host/file-hash.ts';
import { ConfigFileAdapter } from '../config-file-adapter.ts';
import { backUpFiles } from '../file-backup.ts';
import type { HookRunner } from '../hook-contract.ts';
import {
  type AcquireOptions,
  type ArtifactHandle,
  type RuntimeAdapter,
  RuntimeError,
  type RuntimeStatus,
  type StartOptions,
  type WantedArtifact,
} from '../runtime-adapter.ts';
import { keptContainers, readableBackup, requireContainerBackup, writeContainerBackup } from './container-backup.ts';
import { ContainerHooks } from './container-hooks.ts';
import { ContainerService } from './container-service.ts';
import { ContainerSwap } from './container-swap.ts';
import type { ContainerView, Engine } from './engine.ts';
import type { PullBackoff } from './image-pull.ts';
import { ImageStore } from './image-store.ts';
import { Instances } from './instances.ts';
import { refusalsOnHost } from './refusals-on-host.ts';
import { defaultDockerConfig } from './registry-credentials.ts';
import { policyOf } from './restart-policy.ts';
import { ServiceRecordFile } from './service-record.ts';

/** One component in a container, from the agent's own file (A17). */
export interface DockerComponent {
  readonly binaryName: string;
  /** Name of the container, without the engine's slash. */
  readonly container: string;
  readonly configRoots: readonly string[];
  readonly stateDir: string;
  /** On the host; null or left out: steps of the vendor can't name it. */
  readonly dataDir?: string | null;
  /** Programs inside the image, beside the container's own, that steps of the vendor may run. */
  readonly hookPrograms?: readonly string[];
}

/** A container, the image that it is made from and its configs (spec "Docker Adapter", A14). The contract is the interface's. */
export class DockerAdapter extends ConfigFileAdapter implements RuntimeAdapter {
  readonly runtimeType = 'docker';
  readonly artifactKind = 'image';
  readonly hooks: HookRunner;
  readonly #engine: Engine;
  readonly #service: ContainerService;
  readonly #images: ImageStore;
  readonly #swap: ContainerSwap;
  readonly #hashes: FileHashes;

  constructor(
    component: DockerComponent,
    parts: {
      readonly engine: Engine;
      readonly hashes: FileHashes;
      readonly dockerConfig?: string;
      readonly backoff?: PullBackoff;
    },
  ) {
    super(component.configRoots);
    const folder = join(component.stateDir, 'docker', component.binaryName);
    const name = component.container;
    this.#engine = parts.engine;
    const { dataDir = null, hookPrograms = [] } = component;
    this.hooks = new ContainerHooks({ container: name, dataDir, hookPrograms }, this.#engine);
    const instances = new Instances(name, this.#engine);
    this.#hashes = parts.hashes;
    const record = new ServiceRecordFile(join(folder, 'service.json'));
    this.#service = new ContainerService({ name, engine: this.#engine, instances, record });
    this.#swap = new ContainerSwap(this.#engine, instances);
    this.#images = new ImageStore({
      engine: this.#engine,
      recordFile: join(folder, 'images.json'),
      dockerConfig: parts.dockerConfig ?? defaultDockerConfig(),
      ...(parts.backoff === undefined ? {} : { backoff: parts.backoff }),
    });
  }

  serviceName(): string {
    return this.#service.name;
  }

  /** Nothing is laid in advance: the hold is the restart policy, which the engine keeps. */
  prepare(): Promise<void> {
    return this.#service.payOwedPolicy();
  }

  leave(): Promise<void> {
    return this.#service.leave();
  }

  async status(): Promise<RuntimeStatus> {
    await this.#service.payOwedPolicy();
    return this.#service.status((view) => this.#images.checksumOf(view));
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
    return this.#images.acquire(artifact, options);
  }

  findAcquiredArtifact(artifact: WantedArtifact): Promise<ArtifactHandle | null> {
    return this.#images.find(artifact);
  }

  /** An agent that was killed while it verified may have left a container of the image. */
  async discardArtifact(artifact: WantedArtifact): Promise<void> {
    await this.#swap.removeUnfinished();
    await this.#images.discard(artifact);
  }

  /** Besides its platform: the engine makes a container from it as the upgrade will, which is removed again. */
  async verifyArtifact(handle: ArtifactHandle, signal: AbortSignal): Promise<void> {
    await this.#images.verify(handle, signal);
    const container = await this.#container();
    const backup = await this.#backupOf(container);
    await this.#swap.rehearse({ attemptId: 'rehearsal', backup }, handle.location);
  }

  async isArtifactInstalled(installedChecksum: string): Promise<boolean> {
    const container = await this.#engine.container(this.#service.name);
    return container !== null && (await this.#images.checksumOf(container)) === installedChecksum;
  }

  async installArtifact(handle: ArtifactHandle, backupDir: string, signal: AbortSignal): Promise<void> {
    const backup = await requireContainerBackup(backupDir);
    await this.#service.holdSuccessor(policyOf(backup.container));
    await this.#swap.install({ attemptId: basename(backupDir), backup }, handle.location, signal);
  }

  async backupState(backupDir: string, configPaths: readonly string[], signal: AbortSignal): Promise<void> {
    for (const path of configPaths) await this.confine(path);
    const container = await this.#container();
    await this.#requireReplaceable(container, signal);
    await this.#swap.requireNames(await keptContainers(dirname(backupDir)));
    signal.throwIfAborted();
    await writeContainerBackup(backupDir, await this.#backupOf(container));
    await backUpFiles({ backupDir, artifactPath: null, configPaths, hashes: this.#hashes, signal });
  }

  /** The container first: a backup that is gone could not say any more that the container is ours. */
  override async removeBackup(backupDir: string): Promise<void> {
    const backup = await readableBackup(backupDir);
    if (backup !== null) {
      const kept = await keptContainers(dirname(backupDir), basename(backupDir));
      await this.#swap.removeBackup(backup, kept);
    }
    await super.removeBackup(backupDir);
  }

  override async isBackedUp(backupDir: string): Promise<boolean> {
    return (await super.isBackedUp(backupDir)) && (await readableBackup(backupDir)) !== null;
  }

  async restoreArtifact(backupDir: string): Promise<void> {
    const backup = await requireContainerBackup(backupDir);
    await this.#swap.restore({ attemptId: basename(backupDir), backup });
  }

  /** There are no definitions to read again: the container's are in the engine. */
  async reloadDaemon(): Promise<void> {
    return;
  }

  /** The old container may go now, and with it the images that no kept backup needs. */
  async confirm(backupDir: string): Promise<void> {
    const kept = await keptContainers(dirname(backupDir));
    await this.#swap.removeBackups(kept);
    const current = await this.#images.checksumOf(await this.#container());
    await this.#images.prune(new Set([current, ...kept.map(({ imageChecksum }) => imageChecksum)]));
  }

  logTail(maxLines: number): Promise<string[]> {
    return this.#service.logTail(maxLines);
  }

  /** What a swap would lose is known before anything is stopped (A14). */
  async #requireReplaceable(container: ContainerView, signal: AbortSignal): Promise<void> {
    const oldImage = await this.#engine.image(container.Image);
    const refusals = await this.#engine.call(`look what ${this.#service.name} would lose`, signal, (docker) =>
      refusalsOnHost(docker, { container, oldImage }),
    );
    const [first] = refusals;
    if (first === undefined) return;
    throw new RuntimeError(first.code, refusals.map(({ reason }) => reason).join(' '));
  }

  async #backupOf(container: ContainerView) {
    const [image, imageChecksum] = await Promise.all([
      this.#images.imageOf(container),
      this.#images.checksumOf(container),
    ]);
    const RestartPolicy = await this.#service.operatorsPolicy(container);
    const asMade = { ...container, HostConfig: { ...container.HostConfig, RestartPolicy } };
    return { format: 1 as const, container: asMade, image, imageChecksum };
  }

  async #container(): Promise<ContainerView> {
    const container = await this.#engine.container(this.#service.name);
    if (container !== null) return container;
    throw new RuntimeError(
      'container_not_found',
      `there is no container ${this.#service.name} any more: create it again`,
    );
  }
}
