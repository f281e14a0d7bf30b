/** Builds the chains' releases that tests upgrade between into the cache; says each one's path. */
import { COMETBFT_RELEASES, ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { ensureGethReleases } from '@hoodcloud/testkit/chains/geth-binaries';

const cometbft = await ensureCometbftReleases(COMETBFT_RELEASES);
const geth = await ensureGethReleases();
for (const { path } of [...Object.values(cometbft), ...Object.values(geth)]) console.log(path);
