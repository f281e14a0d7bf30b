import { type UpgradeManifest, upgradeManifestSchema } from '@hoodcloud/contracts/files/upgrade-manifest';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import {
  assertSafeName,
  type ConfigDirProvider,
  ConfigFileNotFoundError,
  listConfigFolder,
  readConfigFile,
} from './config-dir.ts';
import { contentHashOf, type ManifestReader, type StoredManifest } from './manifest-reader.ts';

/** Reads upgrade manifests from `{ConfigDir}/upgrades/{chain_profile_id}/{upgrade_id}.yaml`. */
export class FileReader implements ManifestReader {
  readonly #configDir: ConfigDirProvider;

  constructor(configDir: ConfigDirProvider) {
    this.#configDir = configDir;
  }

  async get(chainProfileId: string, upgradeId: string): Promise<StoredManifest> {
    const file = manifestPath(chainProfileId, upgradeId);
    const bytes = await readConfigFile(this.#configDir(), file);
    if (!bytes) throw new ConfigFileNotFoundError(file, `write the manifest there or name another upgrade_id`);
    const manifest = parseManifest(file, bytes.toString('utf8'), chainProfileId, upgradeId);
    return { manifest, contentHash: contentHashOf(bytes), file };
  }

  async list(chainProfileId: string): Promise<StoredManifest[]> {
    assertSafeName('chain_profile_id', chainProfileId);
    const names = await listConfigFolder(this.#configDir(), `upgrades/${chainProfileId}`);
    const upgradeIds = names.filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -'.yaml'.length));
    const found = await Promise.all(upgradeIds.map((upgradeId) => this.#getIfReadable(chainProfileId, upgradeId)));
    return found.filter((stored) => stored !== null);
  }

  async contentHash(chainProfileId: string, upgradeId: string): Promise<string | null> {
    const bytes = await readConfigFile(this.#configDir(), manifestPath(chainProfileId, upgradeId));
    return bytes ? contentHashOf(bytes) : null;
  }

  async #getIfReadable(chainProfileId: string, upgradeId: string): Promise<StoredManifest | null> {
    try {
      return await this.get(chainProfileId, upgradeId);
    } catch (error) {
      if (error instanceof FileFormatError || error instanceof ConfigFileNotFoundError) return null;
      throw error;
    }
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
