import type { CometbftBinary } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { type OfferedVersion, type RealChain, writeRealChain } from './stack/real-chain.ts';

export const CHAIN = 'cometbft';

/** How a validator's health is told from its own metrics; a validator alone has no series of peers and of block sync. */
export const cometbftChain = (id: string, runtimeType: RealChain['runtimeType'], alone = false): RealChain => ({
  id,
  binary: 'cometbft',
  runtimeType,
  health: {
    healthy_expression: alone ? 'metrics.cometbft_consensus_height > 0.0' : 'metrics.cometbft_p2p_peers >= 1.0',
    synced_expression: alone ? 'metrics.cometbft_consensus_height > 0.0' : 'metrics.cometbft_blocksync_syncing == 0.0',
    ready_expression:
      'metrics.cometbft_consensus_latest_block_height - metrics.cometbft_consensus_validator_last_signed_height <= 5.0',
    height_metric: 'cometbft_consensus_latest_block_height',
    max_block_interval_seconds: 60,
  },
});

/** A release of a file as manifests and profiles name it. */
export const versionOf = ({ release, sha256 }: CometbftBinary) => ({ version: release, checksum: `sha256:${sha256}` });

/** Writes the live chain's folder: its profile, with `health` laid over what it says, and one manifest a target. */
export function writeCometbftChain(
  configDir: string,
  running: CometbftBinary,
  targets: readonly OfferedVersion[],
  health: RealChain['health'] = {},
): Promise<void> {
  const chain = cometbftChain(CHAIN, 'systemd');
  const wanted = { ...chain, health: { ...chain.health, ...health } };
  return writeRealChain(configDir, wanted, versionOf(running), targets);
}
