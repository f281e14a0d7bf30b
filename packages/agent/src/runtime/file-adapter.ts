import { basename, dirname, join } from 'node:path';
import { attributesOf, type FileAttributes, followLinks, removeDurably, renameDurably } from '../host/atomic-file.ts';
import { type FileHashes, hashFileIfThere } from '../host/file-hash.ts';
import { explainingHostErrors } from '../host/host-error.ts';
import { partBeside } from '../host/part-file.ts';
import { ArtifactAttributes } from './artifact-attributes.ts';
import { ConfigFileAdapter } from './config-file-adapter.ts';
import { requireStarts } from './dry-start.ts';
import { requireExecutable } from './elf-header.ts';
import { fetchArtifact, fetchedPath } from './fetch-artifact.ts';
import { backUpFiles, copyDurably, findInBackups, requireBackup, restoreFile } from './file-backup.ts';
import { packageOf } from './package-owner.ts';
import { checkPlace, otherReleases, type ReleasePlace, releasePlace } from './release-place.ts';
import { switchRelease, undoRelease } from './release-switch.ts';
import { type AcquireOptions, type ArtifactHandle, RuntimeError, type WantedArtifact } from './runtime-adapter.ts';
import { identityOfProcess, ownerOf } from './service-identity.ts';

export interface FileAdapterSettings {
  /** Absolute path of the binary; a link is followed, or replaced where a command asks for it (A8). */
  readonly installPath: string;
  /** Folder of the releases that a replaced link leads to; by default that of the present one. */
  readonly releasesDir?: string | null;
  readonly configRoots: readonly string[];
  readonly allowHttpHosts: readonly string[];
  /** Keys of which one must have signed every download; absent: the chain decides. */
  readonly signedBy?: readonly string[] | undefined;
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

  override async warnings(): Promise<readonly string[]> {
    const path = await this.target();
    const owner = await packageOf(path);
    const sentence = `${path} belongs to the package ${owner}: the next upgrade of that package writes another version there`;
    return owner === null ? [] : [sentence];
  }

  async acquireArtifact(artifact: WantedArtifact, options: AcquireOptions): Promise<ArtifactHandle> {
    await this.#requirePlace(artifact, knownChecksum(artifact));
    const target = await this.#downloadPath(artifact);
    const attributes = await this.#attributesToGive();
    const known = knownChecksum(artifact);
    const kept = known === null ? null : await findInBackups(options.backupDirs, known);
    const { allowHttpHosts, signedBy } = this.#settings;
    const installedChecksum =
      known !== null && kept !== null
        ? await copyKept(kept, target, attributes, known)
        : await fetchArtifact({ artifact, target, attributes, allowHttpHosts, options, ...(signedBy && { signedBy }) });
    await this.#settings.hashes.learn(target, installedChecksum);
    return { artifact, location: target, installedChecksum };
  }

  async findAcquiredArtifact(artifact: WantedArtifact): Promise<ArtifactHandle | null> {
    const installedChecksum = knownChecksum(artifact);
    if (installedChecksum === null) return null;
    const place = await this.#place(artifact);
    const prepared = place === null || place.newRoot === place.oldRoot ? [] : [place.binary];
    const locations = [await this.#downloadPath(artifact), ...prepared];
    for (const location of locations) {
      if ((await this.#settings.hashes.of(location)) === installedChecksum)
        return { artifact, location, installedChecksum };
    }
    return null;
  }

  async discardArtifact(artifact: WantedArtifact): Promise<void> {
    const path = await this.#downloadPath(artifact);
    for (const leftover of [path, partBeside(path), fetchedPath(path), partBeside(fetchedPath(path))]) {
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
    await this.#tryIt(handle, signal);
  }

  /** Main process of the service; null when none runs. */
  protected async serviceProcess(): Promise<number | null> {
    return null;
  }

  async #tryIt({ artifact, location: path }: ArtifactHandle, signal: AbortSignal): Promise<void> {
    const pid = await this.serviceProcess();
    const identity = (pid === null ? null : await identityOfProcess(pid)) ?? (await ownerOf(path));
    await requireStarts({ path, wanted: artifact.dryStart ?? null, identity, signal });
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

  /** Beside the binary, so that the swap is a rename (spec: `{InstallTarget}/.download-{name}`). */
  async #downloadPath(artifact: WantedArtifact): Promise<string> {
    const folder = (await this.#place(artifact))?.folder ?? dirname(await this.target());
    return join(folder, `.download-${basename(artifact.name)}`);
  }

  /** Where a version goes whose link is replaced; null when links are followed. */
  async #place(artifact: WantedArtifact): Promise<ReleasePlace | null> {
    const { release } = artifact;
    if (release === undefined) return null;
    const { installPath, releasesDir = null, hashes } = this.#settings;
    const named = await releasePlace(installPath, releasesDir, release.name);
    if (!release.anyWithContent) return named;
    for (const name of await otherReleases(named)) {
      const other = await releasePlace(installPath, releasesDir, name);
      if ((await hashes.of(other.binary)) === knownChecksum(artifact)) return other;
    }
    return named;
  }

  /**
   * @param installedChecksum null: not known yet, so that what is in the place already is judged by the next call
   * @throws RuntimeError when the link can't be replaced for this artifact
   */
  async #requirePlace(artifact: WantedArtifact, installedChecksum: string | null): Promise<ReleasePlace | null> {
    const place = await this.#place(artifact);
    if (place === null) return null;
    const occupiedBy = await this.#settings.hashes.of(place.binary);
    await checkPlace(place, occupiedBy, installedChecksum ?? occupiedBy ?? '');
    return place;
  }

  /** Owner and mode of the binary that is replaced; an executable of our own where there is none (A8). */
  async #attributesToGive(): Promise<FileAttributes> {
    const old = await attributesOf(await this.target());
    if (old !== null) return { mode: old.mode, uid: old.uid, gid: old.gid };
    return { mode: 0o755, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  }
}

async function copyKept(kept: string, target: string, attributes: FileAttributes, checksum: string): Promise<string> {
  await explainingHostErrors(`copy ${kept} to ${target}`, async () => {
    await copyDurably(kept, partBeside(target), attributes);
    await renameDurably(partBeside(target), target);
  });
  return checksum;
}

/** Of the file to install; null while nobody knows it: a member of an archive not yet unpacked (A6). */
function knownChecksum({ checksum, member, installedChecksum }: WantedArtifact): string | null {
  return installedChecksum ?? (member === null ? checksum : null);
}
