import { type ChainBinary, ensureBinaries, type GoProgram } from './go-binaries.ts';

const GETH: GoProgram = {
  name: 'Geth',
  module: 'github.com/ethereum/go-ethereum/cmd/geth',
  buildSeconds: 140,
};

/** v1.17.10 can't open the database of v1.16.9 before a step by hand; v1.16.9 goes on with it untouched. */
export const GETH_RELEASES = ['v1.16.9', 'v1.17.10'] as const;
export type GethRelease = (typeof GETH_RELEASES)[number];
export type GethBinary = ChainBinary<GethRelease>;

/** Makes sure of both releases. @throws BuildError when Go is missing or a build fails */
export function ensureGethReleases(): Promise<Record<GethRelease, GethBinary>> {
  return ensureBinaries(GETH, GETH_RELEASES);
}
