import { type ChainBinary, type EnsureOptions, ensureBinaries, ensureBinary, type GoProgram } from './go-binaries.ts';

const COMETBFT: GoProgram = {
  name: 'CometBFT',
  module: 'github.com/cometbft/cometbft/cmd/cometbft',
  buildSeconds: 60,
};

/** The releases that demo and tests upgrade between; v1.0.1 panics on the data of v0.38. */
export const COMETBFT_RELEASES = ['v0.38.17', 'v0.38.21', 'v1.0.1'] as const;
export type CometbftRelease = (typeof COMETBFT_RELEASES)[number];
/** v0.38.21 itself reports 0.38.19. */
export type CometbftBinary = ChainBinary<CometbftRelease>;

/** Makes sure of one release. @throws BuildError when Go is missing or the build fails */
export function ensureCometbft(release: CometbftRelease, options?: EnsureOptions): Promise<CometbftBinary> {
  return ensureBinary(COMETBFT, release, options);
}

/** Makes sure of several releases. @throws BuildError when Go is missing or a build fails */
export function ensureCometbftReleases<Release extends CometbftRelease>(
  releases: readonly Release[],
  options?: EnsureOptions,
): Promise<Record<Release, ChainBinary<Release>>> {
  return ensureBinaries(COMETBFT, releases, options);
}
