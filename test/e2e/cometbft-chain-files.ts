import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CometbftBinary } from '@hoodcloud/testkit/chains/cometbft-binaries';

export const CHAIN = 'cometbft';

/** Life signs wanted of a node before it counts, short enough for a test (D4c wants ten seconds in production). */
const PROFILE = (running: CometbftBinary) => `chain_profile_id: ${CHAIN}
node_types: [validator]
binaries:
  - name: cometbft
    known_versions:
      - { version: ${running.release}, checksum: 'sha256:${running.sha256}' }
health:
  healthy_expression: metrics.cometbft_p2p_peers >= 1.0
  synced_expression: metrics.cometbft_blocksync_syncing == 0.0
  ready_expression: metrics.cometbft_consensus_latest_block_height - metrics.cometbft_consensus_validator_last_signed_height <= 5.0
  height_metric: cometbft_consensus_latest_block_height
  max_block_interval_seconds: 60
  health_wait_seconds: 6
  stable_seconds: 3
`;

const MANIFEST = (target: CometbftBinary, url: string) => `upgrade_id: ${target.release}
chain_profile_id: ${CHAIN}
node_type: validator
binary_name: cometbft
target_version: ${target.release}
target_url: ${url}
target_checksum: sha256:${target.sha256}
state_compatibility:
  migration_type: compatible
`;

/** Writes the chain's profile and one manifest a target, as an operator's config folder has them. */
export async function writeCometbftChain(
  configDir: string,
  running: CometbftBinary,
  targets: readonly { readonly release: CometbftBinary; readonly url: string }[],
): Promise<void> {
  await mkdir(join(configDir, CHAIN), { recursive: true });
  await mkdir(join(configDir, 'upgrades', CHAIN), { recursive: true });
  await writeFile(join(configDir, CHAIN, 'profile.yaml'), PROFILE(running));
  await writeFile(join(configDir, CHAIN, 'runtime.yaml'), 'runtime: { type: systemd }\n');
  for (const { release, url } of targets) {
    await writeFile(join(configDir, 'upgrades', CHAIN, `${release.release}.yaml`), MANIFEST(release, url));
  }
}
