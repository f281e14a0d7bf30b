const PRERELEASE = /[-._\d](alpha|beta|rc|pre|preview|dev|nightly|snapshot|testnet)(?![a-z])/i;

/** Whether a version's own name says that it is a pre-release. */
export function isPrerelease(version: string): boolean {
  return PRERELEASE.test(version);
}

/** A version without what is only habit: folders of a monorepo's tag, the "v", upper case. */
export function bareVersion(version: string): string {
  return version
    .slice(version.lastIndexOf('/') + 1)
    .replace(/^v\.?(?=\d)/i, '')
    .toLowerCase();
}
