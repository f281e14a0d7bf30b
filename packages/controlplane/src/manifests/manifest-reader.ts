import { createHash } from 'node:crypto';
import type { UpgradeManifest } from '@hoodcloud/contracts/files/upgrade-manifest';

/** A manifest as it is stored now. */
export interface StoredManifest {
  readonly manifest: UpgradeManifest;
  /** `sha256:<hex>` of the raw bytes (rule 6, E3). */
  readonly contentHash: string;
  /** Path below the config folder, for messages. */
  readonly file: string;
  /** Id of the minisign key that signed it; null: no signature is demanded. */
  readonly signedBy: string | null;
}

/** A manifest file as people are shown it, usable or not. */
export interface InspectedManifest {
  readonly upgradeId: string;
  readonly file: string;
  readonly contentHash: string;
  /** Whether signatures are demanded, and then whether one of the keys signed these bytes. */
  readonly signature: 'not_required' | 'verified' | 'refused';
  /** Null when it can't be read. */
  readonly manifest: UpgradeManifest | null;
  /** Why no rollout can use it. */
  readonly problems: readonly string[];
}

/** The specification's `manifest.Reader`. */
export interface ManifestReader {
  /**
   * @throws ConfigFileNotFoundError, FileFormatError with every problem as `file:line:column: what`, ManifestSignatureError
   */
  get(chainProfileId: string, upgradeId: string): Promise<StoredManifest>;
  /** Every manifest of a chain that can be read; the others are left out, `hoodctl manifest lint` tells why. */
  list(chainProfileId: string): Promise<StoredManifest[]>;
  /** Every manifest file of a chain, also those that can't be used, with the reasons. */
  inspect(chainProfileId: string): Promise<InspectedManifest[]>;
  /** Hash of the raw bytes as they are now; null when the manifest is gone. */
  contentHash(chainProfileId: string, upgradeId: string): Promise<string | null>;
}

/** `sha256:<hex>` of raw bytes. */
export function contentHashOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
