import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError } from '../runtime-adapter.ts';
import type { ContainerBackup } from './container-backup.ts';
import { cloneOf, createClone } from './container-clone.ts';
import type { ContainerView, Engine } from './engine.ts';
import { hasStatus, saidBy } from './engine-error.ts';
import { ATTEMPT_LABEL, attemptOf, type Instances, LABEL_PREFIX, madeFor, nameOf, SERVICE_LABEL } from './instances.ts';
import { isNo, policyOf } from './restart-policy.ts';

/** How long a container that is being removed may keep its name before another way is taken (field-case 73). */
const REMOVAL_MS = 10_000;
const POLL_MS = 100;

/** What a swap is about. */
export interface Swap {
  readonly attemptId: string;
  /** The old container, as it was before anything of it was changed. */
  readonly backup: ContainerBackup;
}

/**
 * Puts one container in another's place and takes it back (spec "Docker Adapter", field-cases 66 and 67). Nothing is
 * removed on the way forward. Each step leaves a state that the next call goes on from, whoever was killed in between:
 * the new container has its labels from the first moment, the old one is known by the id in the backup.
 */
export class ContainerSwap {
  readonly #engine: Engine;
  readonly #instances: Instances;

  constructor(engine: Engine, instances: Instances) {
    this.#engine = engine;
    this.#instances = instances;
  }

  /**
   * `{name}.new` is made whole, the old one becomes `{name}.bak`, the new one gets the name. The old one stands still.
   * @param image reference of the new image
   */
  async install({ attemptId, backup }: Swap, image: string, signal: AbortSignal): Promise<void> {
    const { name } = this.#instances;
    const here = await this.#engine.container(name);
    if (here !== null && attemptOf(here) === attemptId && here.Config.Image === image) return;
    this.#requireReplaceable(here, { attemptId, backup });
    await this.removeUnfinished();
    signal.throwIfAborted();
    const made = await this.#make({ attemptId, backup }, image);
    if (here?.Id === backup.container.Id) await this.#rename(here.Id, await this.#freeBackupName());
    else if (here !== null) await this.#remove(here, true); // an earlier try of this very attempt
    await this.#rename(made, name);
  }

  /** The old container gets its name back, the new one goes; made anew from the backup when the old one is no more. */
  async restore({ attemptId, backup }: Swap): Promise<void> {
    const { name } = this.#instances;
    await this.removeUnfinished();
    const [here, old] = await Promise.all([this.#engine.container(name), this.#engine.container(backup.container.Id)]);
    if (old !== null && here?.Id === old.Id) return;
    const madeAnew = `${attemptId}.undo`;
    if (here !== null && old === null && attemptOf(here) === madeAnew) return;
    if (here !== null && attemptOf(here) !== attemptId) throw changedByOthers(name);
    // what is to come back is known to be there before anything goes
    const image = old === null ? await this.#oldImage(backup) : null;
    if (here !== null) await this.#remove(here, true);
    const id = image === null ? backup.container.Id : await this.#make({ attemptId: madeAnew, backup }, image);
    await this.#rename(id, name);
  }

  /**
   * Removes the old containers of finished attempts. Volumes stay: the new one has them.
   * @param kept containers of the kept backups: whatever else has such a name is somebody else's
   */
  async removeBackups(kept: readonly ContainerBackup[]): Promise<void> {
    const here = await this.#engine.container(this.#instances.name);
    if (here === null) return; // never the last one (field-case 6)
    const ours = idsOf(kept);
    for (const other of await this.#setAside(here)) {
      if (ours.has(other.Id) || madeFor(other, this.#instances.name)) await this.#remove(other, false);
    }
  }

  /**
   * Removes the container that a backup leads back to, since the backup goes too; nobody would know afterwards that it is
   * ours. One that serves, or that another backup leads back to, stays.
   * @param kept containers of the other backups
   * @throws RuntimeError `container_changed` when nothing serves in its place: it may be the last one (field-case 6)
   */
  async removeBackup({ container }: ContainerBackup, kept: readonly ContainerBackup[]): Promise<void> {
    const { name } = this.#instances;
    if (idsOf(kept).has(container.Id)) return;
    const [here, old] = await Promise.all([this.#engine.container(name), this.#engine.container(container.Id)]);
    if (old === null || here?.Id === old.Id) return;
    if (here === null) throw new RuntimeError('container_changed', `there is no ${name}, so its old container stays`);
    const found = (await this.#setAside(here)).find(({ Id }) => Id === old.Id);
    if (found !== undefined) await this.#remove(found, false);
  }

  /**
   * That the names that a swap needs are free, or ours; known before anything is stopped (A10). Somebody else's `.bak`
   * that lies still is left alone, another name is taken (field-case 73); one that runs, or that the engine would start,
   * may be a second instance of the node (A19).
   * @throws RuntimeError `name_taken`
   */
  async requireNames(kept: readonly ContainerBackup[]): Promise<void> {
    const { name, unfinishedName } = this.#instances;
    const ours = idsOf(kept);
    const unfinished = await this.#settled(unfinishedName);
    if (unfinished !== null && !madeFor(unfinished, name)) {
      throw new RuntimeError(
        'name_taken',
        `there is a container ${unfinishedName} that this agent didn't make, and an upgrade of ${name} needs that name: rename or remove it`,
      );
    }
    for (const other of await this.#setAside(await this.#engine.container(name))) {
      const liesStill = !other.State.Running && isNo(policyOf(other));
      if (ours.has(other.Id) || madeFor(other, name) || liesStill) continue;
      throw new RuntimeError(
        'name_taken',
        `the container ${nameOf(other)}, which this agent didn't make, runs or is started by the engine, and beside ${name} it would be a second instance: stop it and set its restart policy to "no", or rename it when it is something else`,
      );
    }
  }

  /** Makes the clone and removes it again: what the engine refuses is known before anything is stopped (A10). */
  async rehearse(swap: Swap, image: string): Promise<void> {
    await this.removeUnfinished();
    await this.#make(swap, image);
    await this.removeUnfinished();
  }

  /** Removes what a swap, or a rehearsal of one, had begun to make. */
  async removeUnfinished(): Promise<void> {
    const unfinished = await this.#engine.container(this.#instances.unfinishedName);
    if (unfinished !== null && madeFor(unfinished, this.#instances.name)) await this.#remove(unfinished, true);
  }

  /** By the name that the operator gave it while that still means the same image. */
  async #oldImage({ container, imageChecksum }: ContainerBackup): Promise<string> {
    const named = String(container.Config.Image ?? '');
    if (named !== '' && (await this.#engine.image(named))?.Id === container.Image) return named;
    if ((await this.#engine.image(container.Image)) !== null) return container.Image;
    throw new RuntimeError(
      'image_gone',
      `the old container of ${this.#instances.name} and its image ${imageChecksum} were both removed, so it can't be made again: pull the image, then try again`,
    );
  }

  /** @returns its id */
  async #make({ attemptId, backup }: Swap, image: string): Promise<string> {
    const { name, unfinishedName } = this.#instances;
    const clone = cloneOf({
      container: backup.container,
      oldImage: backup.image,
      image,
      labels: { [ATTEMPT_LABEL]: attemptId, [SERVICE_LABEL]: name },
      ownLabelPrefix: LABEL_PREFIX,
    });
    const create = { ...clone.create, name: unfinishedName };
    const made = await this.#engine.call(`make the container ${unfinishedName}`, null, (docker) =>
      createClone(docker, { ...clone, create }),
    );
    return made.id;
  }

  /** A container under the service's name is the old one, or what an earlier try of this attempt made. */
  #requireReplaceable(here: ContainerView | null, { attemptId, backup }: Swap): void {
    if (here === null || here.Id === backup.container.Id || attemptOf(here) === attemptId) {
      if (here === null || !here.State.Running) return;
      throw new RuntimeError(
        'fence_violated',
        `${this.#instances.name} still runs, so it is not replaced: stop it first`,
      );
    }
    throw changedByOthers(this.#instances.name);
  }

  /** Those that have a name which our swaps give, beside the one that serves; some of them may be somebody else's. */
  async #setAside(here: ContainerView | null): Promise<ContainerView[]> {
    const others = await this.#instances.besides(here?.Id ?? null);
    return others.filter((other) => this.#instances.isLeftOverName(nameOf(other)));
  }

  async #freeBackupName(): Promise<string> {
    for (let number = 1; ; number++) {
      const name = this.#instances.backupName(number);
      if ((await this.#settled(name)) === null) return name;
    }
  }

  async #rename(id: string, name: string): Promise<void> {
    await this.#engine.call(`rename a container to ${name}`, null, (docker) =>
      docker.getContainer(id).rename({ name }),
    );
  }

  /** @param withVolumes anonymous volumes that were made with the container itself go too; those it was given stay */
  async #remove(view: ContainerView, withVolumes: boolean): Promise<void> {
    try {
      await this.#engine.call(`remove the container ${nameOf(view)}`, null, (docker) =>
        docker.getContainer(view.Id).remove({ v: withVolumes }),
      );
    } catch (error) {
      if (hasStatus(error, 404)) return;
      if (!hasStatus(error, 409) || !/removal .*in progress/i.test(saidBy(error))) throw error;
    }
    await this.#untilRemoved(view);
  }

  /** The container of a name, once no removal is under way any more. */
  async #settled(name: string): Promise<ContainerView | null> {
    const view = await this.#engine.container(name);
    if (view === null || !isBeingRemoved(view)) return view;
    return this.#untilRemoved(view);
  }

  async #untilRemoved(view: ContainerView): Promise<ContainerView | null> {
    for (const until = Date.now() + REMOVAL_MS; ; await sleep(POLL_MS)) {
      const now = await this.#engine.container(view.Id);
      if (now === null || Date.now() > until) return now;
    }
  }
}

function idsOf(backups: readonly ContainerBackup[]): ReadonlySet<string> {
  return new Set(backups.map(({ container }) => container.Id));
}

function isBeingRemoved({ State }: ContainerView): boolean {
  return State.Status === 'removing' || State.Dead;
}

function changedByOthers(name: string): RuntimeError {
  return new RuntimeError(
    'container_changed',
    `${name} was replaced by somebody else in the middle of the upgrade: nothing is changed; see which container is right`,
  );
}
