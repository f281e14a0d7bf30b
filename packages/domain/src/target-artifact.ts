/** What a node downloads: an address, what its content hashes to, and which member of it is installed (A11). */
export interface TargetArtifact {
  readonly url: string;
  /** `sha256:<hex>` of the downloaded file, or the image's digest. */
  readonly checksum: string;
  /** Member of an archive; null: the file itself. */
  readonly member: string | null;
  readonly signature: ArtifactSignature | null;
}

/** A detached signature of the downloaded file. */
export interface ArtifactSignature {
  readonly format: 'minisign' | 'cosign_bundle';
  readonly url: string;
}

/** One artifact for every node, or one for each platform (`linux/amd64`). */
export type TargetArtifacts =
  | { readonly kind: 'one'; readonly artifact: TargetArtifact }
  | { readonly kind: 'by_platform'; readonly artifacts: Readonly<Record<string, TargetArtifact>> };

/** The artifact for a node; null when there is none for its platform, or the platform is not known. */
export function artifactFor(targets: TargetArtifacts, platform: string | null): TargetArtifact | null {
  if (targets.kind === 'one') return targets.artifact;
  if (platform === null || !Object.hasOwn(targets.artifacts, platform)) return null;
  return targets.artifacts[platform] ?? null;
}
