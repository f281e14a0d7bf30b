import { createHash } from 'node:crypto';
import { type UpgradeManifest, upgradeManifestSchema } from '@hoodcloud/contracts/files/upgrade-manifest';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import { type MinisignKey, minisignSigner, whyNotMinisigned } from '@hoodcloud/contracts/signature/minisign';
import { DomainError } from '@hoodcloud/domain/errors';
import {
  assertSafeName,
  type ConfigDirProvider,
  ConfigFileNotFoundError,
  listConfigFolder,
  readConfigFile,
} from './config-dir.ts';
import { contentHashOf, type InspectedManifest, type ManifestReader, type StoredManifest } from './manifest-reader.ts';

/** A manifest that nobody trusted has signed, though the control plane is told to demand it. */
export class ManifestSignatureError extends DomainError {
  constructor(file: string, why: string) {
    super(
      'manifest_signature',
      `${file} does not count, as HOODCLOUD_MANIFEST_KEYS demands a signature: ${why}. Sign it by minisign -Sm and publish both files.`,
      { file },
    );
  }
}

/**
 * Reads upgrade manifests from `{ConfigDir}/upgrades/{chain_profile_id}/{upgrade_id}.yaml`. When keys are named, a manifest
 * counts only with a signature of one of them beside it (`….yaml.minisig`): who may write the folder may not upgrade then.
 */
export class FileReader implements ManifestReader {
  readonly #configDir: ConfigDirProvider;

  readonly #keys: readonly MinisignKey[];

  constructor(configDir: ConfigDirProvider, keys: readonly MinisignKey[] = []) {
    this.#configDir = configDir;
    this.#keys = keys;
  }

  async get(chainProfileId: string, upgradeId: string): Promise<StoredManifest> {
    const file = manifestPath(chainProfileId, upgradeId);
    const bytes = await readConfigFile(this.#configDir(), file);
    if (!bytes) throw new ConfigFileNotFoundError(file, `write the manifest there or name another upgrade_id`);
    const signedBy = await this.#requireSigned(file, bytes);
    const manifest = parseManifest(file, bytes.toString('utf8'), chainProfileId, upgradeId);
    return { manifest, contentHash: contentHashOf(bytes), file, signedBy };
  }

  async list(chainProfileId: string): Promise<StoredManifest[]> {
    const upgradeIds = await this.#upgradeIds(chainProfileId);
    const found = await Promise.all(upgradeIds.map((upgradeId) => this.#getIfReadable(chainProfileId, upgradeId)));
    return found.filter((stored) => stored !== null);
  }

  async inspect(chainProfileId: string): Promise<InspectedManifest[]> {
    const upgradeIds = await this.#upgradeIds(chainProfileId);
    const found = await Promise.all(upgradeIds.map((upgradeId) => this.#inspectOne(chainProfileId, upgradeId)));
    return found.filter((inspected) => inspected !== null);
  }

  async contentHash(chainProfileId: string, upgradeId: string): Promise<string | null> {
    const bytes = await readConfigFile(this.#configDir(), manifestPath(chainProfileId, upgradeId));
    return bytes ? contentHashOf(bytes) : null;
  }

  /**
   * @returns the id of the key that signed these bytes; null: no keys are named
   * @throws ManifestSignatureError when keys are named and none of them signed these bytes
   */
  async #requireSigned(file: string, bytes: Buffer): Promise<string | null> {
    if (this.#keys.length === 0) return null;
    const signature = await readConfigFile(this.#configDir(), `${file}.minisig`);
    if (signature === null) throw new ManifestSignatureError(file, `${file}.minisig is not there`);
    const digest = () => createHash('blake2b512').update(bytes).digest();
    const why = await whyNotMinisigned(digest, signature.toString('utf8'), this.#keys);
    if (why !== null) throw new ManifestSignatureError(file, why);
    return minisignSigner(signature.toString('utf8'));
  }

  async #upgradeIds(chainProfileId: string): Promise<string[]> {
    assertSafeName('chain_profile_id', chainProfileId);
    const names = await listConfigFolder(this.#configDir(), `upgrades/${chainProfileId}`);
    return names.filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -'.yaml'.length));
  }

  /** Null when the file vanished meanwhile. */
  async #inspectOne(chainProfileId: string, upgradeId: string): Promise<InspectedManifest | null> {
    const file = `upgrades/${chainProfileId}/${upgradeId}.yaml`;
    const bytes = await readConfigFile(this.#configDir(), file);
    if (bytes === null) return null;
    const unsigned = await problemsOf(() => this.#requireSigned(file, bytes));
    const parsed: { manifest?: UpgradeManifest } = {};
    const unreadable = await problemsOf(async () => {
      manifestPath(chainProfileId, upgradeId); // a file whose name no request can say
      parsed.manifest = parseManifest(file, bytes.toString('utf8'), chainProfileId, upgradeId);
    });
    return {
      upgradeId,
      file,
      contentHash: contentHashOf(bytes),
      signature: this.#keys.length === 0 ? 'not_required' : unsigned.length === 0 ? 'verified' : 'refused',
      manifest: parsed.manifest ?? null,
      problems: [...unsigned, ...unreadable],
    };
  }

  async #getIfReadable(chainProfileId: string, upgradeId: string): Promise<StoredManifest | null> {
    try {
      return await this.get(chainProfileId, upgradeId);
    } catch (error) {
      if (error instanceof FileFormatError || error instanceof ConfigFileNotFoundError) return null;
      if (error instanceof ManifestSignatureError) return null;
      throw error;
    }
  }
}

/** What is wrong with the file that `look` reads, as sentences; none when it is fine. */
export async function problemsOf(look: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await look();
    return [];
  } catch (error) {
    if (error instanceof FileFormatError) return error.problems;
    if (error instanceof DomainError) return [error.message];
    throw error;
  }
}

function manifestPath(chainProfileId: string, upgradeId: string): string {
  assertSafeName('chain_profile_id', chainProfileId);
  assertSafeName('upgrade_id', upgradeId);
  return `upgrades/${chainProfileId}/${upgradeId}.yaml`;
}

/** Parses a manifest; its ids must be those of its path, so that a copy with the old id is noticed. */
export function parseManifest(file: string, text: string, chainProfileId: string, upgradeId: string): UpgradeManifest {
  const schema = upgradeManifestSchema.superRefine((manifest, context) => {
    if (manifest.upgrade_id !== upgradeId) {
      const message = `is "${manifest.upgrade_id}" but the file is named ${upgradeId}.yaml`;
      context.addIssue({ code: 'custom', path: ['upgrade_id'], message });
    }
    if (manifest.chain_profile_id !== chainProfileId) {
      const message = `is "${manifest.chain_profile_id}" but the file is in the folder of ${chainProfileId}`;
      context.addIssue({ code: 'custom', path: ['chain_profile_id'], message });
    }
  });
  return parseYamlFile(file, text, schema);
}
