/** Builds the CometBFT releases that tests upgrade between into the cache; says each one's path. */
import { COMETBFT_RELEASES, ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';

const binaries = await ensureCometbftReleases(COMETBFT_RELEASES);
for (const { path } of Object.values(binaries)) console.log(path);
