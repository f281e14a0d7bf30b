import type { ChainRuntime } from '@hoodcloud/contracts/files/chain-profile';
import type { ChainLimits } from './load-rollout-snapshot.ts';

/** What the engine asks of a chain's files. */
export interface ChainFiles extends ChainLimits {
  /** Null when the chain has no `runtime.yaml`. */
  runtime(chainProfileId: string): Promise<ChainRuntime | null>;
  /** Metric that has a node's height (`health.height_metric`); null when the chain's profile names none. */
  heightMetric(chainProfileId: string): Promise<string | null>;
  /** How long a started process must stay the same (D4c), in milliseconds; null when the chain has no profile. */
  stableMs(chainProfileId: string): Promise<number | null>;
}

/** A config file as it is to be on a node. */
export interface RenderedConfig {
  readonly path: string;
  readonly content: Uint8Array;
  /** `sha256:<hex>` of the content. */
  readonly checksum: string;
}

/** What rendering needs to know of a rollout. */
export interface ConfigChangesOf {
  readonly id: string;
  readonly chain_profile_id: string;
  readonly binary_name: string;
  readonly target_version: string;
  readonly config_changes: unknown;
}

/** Renders a rollout's config changes for nodes (spec "Config Rendering Pipeline"); by node id, empty lists without changes. */
export type RenderConfigs = (
  rollout: ConfigChangesOf,
  nodeIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly RenderedConfig[]>>;
