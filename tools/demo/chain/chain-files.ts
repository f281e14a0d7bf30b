import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { stringify } from 'yaml';
import { type DemoChain, type DemoRelease, NODE_TYPE } from './demo-chain.ts';

/** The folder of chain files that the control plane reads, and the server that the agents fetch releases from. */
export class ChainFiles {
  readonly #chain: DemoChain;
  readonly #folder: string;
  readonly #artifacts: ArtifactServer;

  constructor(chain: DemoChain, folder: string, artifacts: ArtifactServer) {
    this.#chain = chain;
    this.#folder = folder;
    this.#artifacts = artifacts;
  }

  /** Writes what the chain is; the release that the nodes run at first is known by its checksum. */
  async writeProfile(): Promise<void> {
    const { chainProfileId, releases } = this.#chain;
    const folder = join(this.#folder, chainProfileId);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'profile.yaml'), stringify(profile(this.#chain, await this.#publish(releases.old))));
    await writeFile(join(folder, 'runtime.yaml'), stringify(RUNTIME));
  }

  /** Offers a release: its file on the server, its manifest in the folder. */
  async offer(release: DemoRelease): Promise<void> {
    const folder = join(this.#folder, 'upgrades', this.#chain.chainProfileId);
    await mkdir(folder, { recursive: true });
    const published = await this.#publish(release);
    await writeFile(join(folder, `${release.version}.yaml`), stringify(manifest(this.#chain, published)));
  }

  async #publish(release: DemoRelease): Promise<Published> {
    const name = `${this.#chain.binaryName}-${release.version}`;
    return { ...release, url: this.#artifacts.publish(name, await readFile(release.path)) };
  }
}

type Published = DemoRelease & { readonly url: string };

/** Life signs are watched over 10 s (D4c), short but honest; a chain with money on it would take minutes. */
function profile(chain: DemoChain, { version, sha256, url }: Published) {
  const known = [{ version, checksum: `sha256:${sha256}`, url }];
  return {
    chain_profile_id: chain.chainProfileId,
    node_types: [NODE_TYPE],
    binaries: [{ name: chain.binaryName, artifact_kind: 'file', known_versions: known }],
    health: {
      healthy_expression: 'metrics.cometbft_p2p_peers >= 1.0',
      synced_expression: 'metrics.cometbft_blocksync_syncing == 0.0',
      ready_expression:
        'metrics.cometbft_consensus_validator_last_signed_height >= metrics.cometbft_consensus_latest_block_height - 5.0',
      height_metric: 'cometbft_consensus_latest_block_height',
      max_block_interval_seconds: 30,
      health_wait_seconds: 10,
      stable_seconds: 3,
      max_restarts: 3,
    },
  };
}

const RUNTIME = { runtime: { type: 'process' }, budgets: { stop_seconds: 30, start_seconds: 20 } };

function manifest(chain: DemoChain, release: Published) {
  return {
    upgrade_id: release.version,
    chain_profile_id: chain.chainProfileId,
    node_type: NODE_TYPE,
    binary_name: chain.binaryName,
    target_version: release.version,
    target_url: release.url,
    target_checksum: `sha256:${release.sha256}`,
    state_compatibility: {
      migration_type: 'compatible',
      notes: 'What its publisher says; the demo shows what is true.',
    },
  };
}
