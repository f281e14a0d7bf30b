import { basename, dirname, join } from 'node:path';
import { attributesOf, type FileAttributes, followLinks, removeDurably, renameDurably } from '../host/atomic-file.ts';
import { type FileHashes, hashFileIfThere } from '../host/file-hash.ts';
import { requireFreeSpace } from '../host/free-space.ts';
import { explainingHostErrors } from '../host/host-error.ts';
import { ArtifactAttributes } from './artifact-attributes.ts';
import { downloadArtifact } from './artifact-download.ts';
import { ConfigFileAdapter } from './config-file-adapter.ts';
import { requireExecutable } from './elf-header.ts';
import { backUpFiles, copyDurably, findInBackups, requireBackup, restoreFile } from './file-backup.ts';
import { checkPlace, otherReleases, type ReleasePlace, releasePlace } from './release-place.ts';
import { switchRelease, undoRelease } from './release-switch.ts';
import { type AcquireOptions, type ArtifactHandle, RuntimeError, type WantedArtifact } from './runtime-adapter.ts';

export interface FileAdapterSettings {
  /** Absolute path of the binary; a link is followed, or replaced where a command asks for it (A8). */
  readonly installPath: string;
  /** Folder of the releases that a replaced link leads to; by default that of the present one. */
  readonly releasesDir?: string | null;
  readonly configRoots: readonly string[];
  readonly allowHttpHosts: readonly string[];
  /** One for the whole agent: what the download learned, `status()` needs not hash again. */
  readonly hashes: FileHashes;
}

/**
 * The file half of a `RuntimeAdapter` whose artifact is a binary: the same under systemd and under our own supervisor,
 * which add the service (spec "Systemd Adapter"). The contract of the methods is `RuntimeAdapter`'s.
 */
export abstract class FileAdapter extends ConfigFileAdapter {
  readonly artifactKind = 'file';
  readonly #settings: FileAdapterSettings;
  readonly #attributes = new ArtifactAttributes();

  constructor(settings: FileAdapterSettings) {
    super(settings.configRoots);
    this.#settings = settings;
  }

  /** The file that gets replaced: the install path with its links followed. */
  protected target(): Promise<string> {
    return followLinks(this.#settings.installPath);
  }

  /** `sha256:<hex>` of the installed binary; null when there is none. */
  protected async installedChecksum(): Promise<string | null> {
    return this.#settings.hashes.of(await this.target());
  }

  async acquireArtifact(artifact: WantedArtifact, options: AcquireOptions): Promise<ArtifactHandle> {
    requirePlainFile(artifact);
    await this.#requirePlace(artifact, artifact.checksum);
    const target = await this.#downloadPath(artifact);
    const attributes = await this.#attributesToGive();
    const kept = await findInBackups(options.backupDirs, artifact.checksum);
    if (kept === null) {
      await this.#download(artifact, target, attributes, options);
    } else {
      await explainingHostErrors(`copy ${kept} to ${target}`, async () => {
        await copyDurably(kept, `${target}.part`, attributes);
        await renameDurably(`${target}.part`, target);
      });
    }
    await this.#settings.hashes.learn(target, artifact.checksum);
    return handleOf(artifact, target);
  }

  async findAcquiredArtifact(artifact: WantedArtifact): Promise<ArtifactHandle | null> {
    const place = await this.#place(artifact);
    const prepared = place === null || place.newRoot === place.oldRoot ? [] : [place.binary];
    const paths = [await this.#downloadPath(artifact), ...prepared];
    for (const path of paths) {
      if ((await this.#settings.hashes.of(path)) === artifact.checksum) return handleOf(artifact, path);
    }
    return null;
  }

  async discardArtifact(artifact: WantedArtifact): Promise<void> {
    const path = await this.#downloadPath(artifact);
    for (const leftover of [path, `${path}.part`]) {
      if ((await attributesOf(leftover)) !== null) await removeDurably(leftover);
    }
  }

  async verifyArtifact(handle: ArtifactHandle, signal: AbortSignal): Promise<void> {
    const checksum = await hashFileIfThere(handle.location);
    signal.throwIfAborted();
    if (checksum !== handle.installedChecksum) {
      throw new RuntimeError(
        'checksum_mismatch',
        `${handle.location} is ${checksum ?? 'gone'}, wanted is ${handle.installedChecksum}: the disk is faulty or somebody changed it`,
      );
    }
    await this.#settings.hashes.learn(handle.location, checksum);
    const place = await this.#requirePlace(handle.artifact, handle.installedChecksum);
    if (handle.location !== place?.binary) await this.#attributes.give(await this.target(), handle.location);
    await requireExecutable(handle.location);
  }

  async isArtifactInstalled(installedChecksum: string): Promise<boolean> {
    return (await this.installedChecksum()) === installedChecksum;
  }

  async installArtifact(handle: ArtifactHandle, backupDir: string): Promise<void> {
    const target = await this.target();
    await explainingHostErrors(`install ${target}`, async () => {
      if ((await attributesOf(handle.location)) === null) {
        if ((await this.installedChecksum()) === handle.installedChecksum) return;
        throw new RuntimeError(
          'artifact_missing',
          `${handle.location} is gone: somebody removed it; try the upgrade again`,
        );
      }
      const place = await this.#place(handle.artifact);
      if (handle.location !== place?.binary) await this.#attributes.give(target, handle.location);
      if (place === null) await renameDurably(handle.location, target);
      else await switchRelease(place, handle.location, backupDir);
    });
  }

  async backupState(backupDir: string, configPaths: readonly string[], signal: AbortSignal): Promise<void> {
    for (const path of configPaths) await this.confine(path);
    const { installPath: artifactPath, hashes } = this.#settings;
    await backUpFiles({ backupDir, artifactPath, configPaths, hashes, signal });
  }

  async restoreArtifact(backupDir: string): Promise<void> {
    const { artifact } = await requireBackup(backupDir);
    if (artifact === null) throw new RuntimeError('backup_corrupt', `the backup ${backupDir} holds no binary`);
    await restoreFile(backupDir, artifact);
    await undoRelease(backupDir); // the old file first: the link never leads to something doubtful
  }

  async #download(
    artifact: WantedArtifact,
    target: string,
    attributes: FileAttributes,
    { signal, onProgress }: AcquireOptions,
  ): Promise<void> {
    if (artifact.url === '') {
      throw new RuntimeError(
        'artifact_unavailable',
        `no kept backup holds ${artifact.checksum} and no address is known for it: give the address of that version`,
      );
    }
    const { allowHttpHosts } = this.#settings;
    // room for the download, and for putting the old binary back beside it
    const requireSpace = (bytes: number) => requireFreeSpace(dirname(target), 2 * bytes, 4);
    const { url, checksum } = artifact;
    await downloadArtifact({ url, checksum, target, attributes, allowHttpHosts, signal, onProgress, requireSpace });
  }

  /** Beside the binary, so that the swap is a rename (spec: `{InstallTarget}/.download-{name}`). */
  async #downloadPath(artifact: WantedArtifact): Promise<string> {
    const folder = (await this.#place(artifact))?.folder ?? dirname(await this.target());
    return join(folder, `.download-${basename(artifact.name)}`);
  }

  /** Where a version goes whose link is replaced; null when links are followed. */
  async #place({ release, checksum }: WantedArtifact): Promise<ReleasePlace | null> {
    if (release === undefined) return null;
    const { installPath, releasesDir = null, hashes } = this.#settings;
    const named = await releasePlace(installPath, releasesDir, release.name);
    if (!release.anyWithContent) return named;
    for (const name of await otherReleases(named)) {
      const other = await releasePlace(installPath, releasesDir, name);
      if ((await hashes.of(other.binary)) === checksum) return other;
    }
    return named;
  }

  /** @throws RuntimeError when the link can't be replaced for this artifact */
  async #requirePlace(artifact: WantedArtifact, installedChecksum: string): Promise<ReleasePlace | null> {
    const place = await this.#place(artifact);
    if (place !== null) await checkPlace(place, await this.#settings.hashes.of(place.binary), installedChecksum);
    return place;
  }

  /** Owner and mode of the binary that is replaced; an executable of our own where there is none (A8). */
  async #attributesToGive(): Promise<FileAttributes> {
    const old = await attributesOf(await this.target());
    if (old !== null) return { mode: old.mode, uid: old.uid, gid: old.gid };
    return { mode: 0o755, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  }
}

function handleOf(artifact: WantedArtifact, location: string): ArtifactHandle {
  return { artifact, location, installedChecksum: artifact.checksum };
}

/** Archives are for a later release; until then they are refused before anything is touched. */
function requirePlainFile(artifact: WantedArtifact): void {
  if (artifact.member === null) return;
  throw new RuntimeError(
    'archive_unsupported',
    `this agent can't take ${artifact.member} out of an archive: give the address and checksum of the binary itself`,
  );
}
