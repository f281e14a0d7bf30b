import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile } from '../../host/atomic-file.ts';
import { readTextIfThere } from '../../host/read-if-there.ts';
import { type AcquireOptions, type ArtifactHandle, RuntimeError, type WantedArtifact } from '../runtime-adapter.ts';
import type { ContainerView, Engine, ImageView } from './engine.ts';
import { hasStatus } from './engine-error.ts';
import { DEFAULT_PULL_BACKOFF, type PullBackoff, pullImage } from './image-pull.ts';
import { parsePinned, registryOf, requirePinned, withoutTag } from './image-reference.ts';
import { credentialsFor } from './registry-credentials.ts';

export interface ImageStoreSettings {
  readonly engine: Engine;
  /** Names the images that the agent itself has pulled: only those are ever removed. */
  readonly recordFile: string;
  /** Docker's `config.json` with the credentials of registries. */
  readonly dockerConfig: string;
  readonly backoff?: PullBackoff;
}

/** The images of one engine: the artifacts of a container runtime. The contract of the methods is the adapter's. */
export class ImageStore {
  readonly #settings: ImageStoreSettings;

  constructor(settings: ImageStoreSettings) {
    this.#settings = settings;
  }

  /** An image that is here is not pulled, whoever brought it and under whatever name (A12a). */
  async acquire(
    artifact: WantedArtifact,
    options: Pick<AcquireOptions, 'signal' | 'onProgress'>,
  ): Promise<ArtifactHandle> {
    if (artifact.url !== '') requireSameDigest(artifact);
    if (artifact.signedBy !== undefined && artifact.signedBy.length > 0) throw unsigned(artifact);
    const here = await this.find(artifact);
    if (here !== null) return here;
    if (artifact.url === '') {
      throw new RuntimeError(
        'artifact_unavailable',
        `no image here is ${artifact.checksum} and no name is known for it: give the image of that version`,
      );
    }
    const image = requirePinned(artifact.url);
    const { engine, dockerConfig, backoff = DEFAULT_PULL_BACKOFF } = this.#settings;
    const credentials = await credentialsFor(registryOf(image.repository), dockerConfig);
    const reference = `${image.repository}@${image.digest}`;
    await this.#note(reference); // before the pull: what a killed agent has begun is its own
    await pullImage({ engine, image, credentials, backoff, options });
    const pulled = await this.find(artifact);
    if (pulled !== null) return pulled;
    throw new RuntimeError('artifact_missing', `${reference} was pulled but isn't here: look at the engine's log`);
  }

  async find(artifact: WantedArtifact): Promise<ArtifactHandle | null> {
    const pinned = parsePinned(artifact.url);
    if (pinned !== null && pinned.digest === artifact.checksum) {
      const reference = `${pinned.repository}@${pinned.digest}`;
      if ((await this.#settings.engine.image(reference)) !== null) return handleOf(artifact, reference);
    }
    const reference = await this.#byDigest(artifact.checksum);
    return reference === null ? null : handleOf(artifact, reference);
  }

  /** @throws RuntimeError `wrong_platform` | `artifact_missing` */
  async verify({ location }: ArtifactHandle, signal: AbortSignal): Promise<void> {
    const { engine } = this.#settings;
    const image = await engine.image(location);
    if (image === null) {
      throw new RuntimeError('artifact_missing', `the image ${location} is gone: somebody removed it; try again`);
    }
    const host = await engine.call("ask for the engine's platform", signal, (docker) => docker.version());
    if (image.Os === host.Os && image.Architecture === host.Arch) return;
    throw new RuntimeError(
      'wrong_platform',
      `${location} is built for ${image.Os}/${image.Architecture}, this host is ${host.Os}/${host.Arch}: give the image for this platform`,
    );
  }

  /** Removes an image that the agent has pulled, unless a container is made from it. */
  async discard(artifact: WantedArtifact): Promise<void> {
    const found = await this.find(artifact);
    const pulled = await this.#pulled();
    const pinned = parsePinned(artifact.url);
    const reference = found?.location ?? (pinned === null ? '' : `${pinned.repository}@${pinned.digest}`);
    if (!pulled.includes(reference)) return;
    await this.#remove(reference);
  }

  /** Removes what the agent has pulled and nothing needs any more (A13). @param needed digests that stay */
  async prune(needed: ReadonlySet<string>): Promise<void> {
    for (const reference of await this.#pulled()) {
      const digest = parsePinned(reference)?.digest ?? reference;
      if (!needed.has(digest)) await this.#remove(reference);
    }
  }

  /**
   * The digest by which a container's image is known (A6): the one it was named by, else one that a registry knows it
   * by, else the engine's own id.
   */
  async checksumOf({ Config, Image }: ContainerView): Promise<string> {
    const named = String(Config.Image ?? '');
    const pinned = parsePinned(named);
    if (pinned !== null) return pinned.digest;
    const digests = ((await this.#settings.engine.image(Image))?.RepoDigests ?? []).map(parsePinned);
    const repository = withoutTag(named);
    const known = digests.find((digest) => digest?.repository === repository) ?? digests[0];
    return known?.digest ?? Image;
  }

  /** The image that a container was made from. @throws RuntimeError when it is gone */
  async imageOf({ Image, Name }: ContainerView): Promise<ImageView> {
    const image = await this.#settings.engine.image(Image);
    if (image !== null) return image;
    throw new RuntimeError(
      'image_gone',
      `the image of ${Name.slice(1)} was removed from the engine, so the container could not be made again: pull it, then try again`,
    );
  }

  async #byDigest(checksum: string): Promise<string | null> {
    const images = await this.#settings.engine.call('list the images', null, (docker) =>
      docker.listImages({ digests: true }),
    );
    for (const { Id, RepoDigests } of images) {
      const named = (RepoDigests ?? []).find((reference) => parsePinned(reference)?.digest === checksum);
      if (named !== undefined) return named;
      if (Id === checksum) return Id;
    }
    return null;
  }

  /** Never by force: the engine refuses where a container needs it, and then it stays, and stays noted. */
  async #remove(reference: string): Promise<void> {
    try {
      await this.#settings.engine.call(`remove the image ${reference}`, null, (docker) =>
        docker.getImage(reference).remove(),
      );
    } catch (error) {
      if (hasStatus(error, 409)) return;
      if (!hasStatus(error, 404)) throw error;
    }
    await this.#write((await this.#pulled()).filter((other) => other !== reference));
  }

  async #note(reference: string): Promise<void> {
    const pulled = await this.#pulled();
    if (!pulled.includes(reference)) await this.#write([...pulled, reference]);
  }

  async #write(pulled: readonly string[]): Promise<void> {
    const { recordFile } = this.#settings;
    await mkdir(dirname(recordFile), { recursive: true, mode: 0o700 });
    await replaceFile(recordFile, `${JSON.stringify(pulled)}\n`);
  }

  async #pulled(): Promise<string[]> {
    const text = await readTextIfThere(this.#settings.recordFile);
    return text === null ? [] : (JSON.parse(text) as string[]);
  }
}

function handleOf(artifact: WantedArtifact, location: string): ArtifactHandle {
  return { artifact, location, installedChecksum: artifact.checksum };
}

/** A name that is pinned to something else than the checksum would bring what nobody asked for. */
function requireSameDigest({ url, checksum }: WantedArtifact): void {
  const pinned = parsePinned(url);
  if (pinned === null || pinned.digest === checksum) return;
  throw new RuntimeError(
    'checksum_mismatch',
    `the image is named ${url}, but ${checksum} is wanted: correct the manifest, both must be the same`,
  );
}

/** What nobody can check here must not pass as checked. */
function unsigned({ url }: WantedArtifact): RuntimeError {
  return new RuntimeError(
    'signature_unsupported',
    `the policy asks for a signature of ${url}, and this agent checks those of files only: pin the image by its digest, and ask for none`,
  );
}
