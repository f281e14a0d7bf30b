import type { CometbftRelease } from '@hoodcloud/testkit/chains/cometbft-binaries';
import type { ChainBinary } from '@hoodcloud/testkit/chains/go-binaries';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';

/** The releases that change places; each reads the other's data. */
export const RELEASES = ['v0.38.17', 'v0.38.21'] as const satisfies readonly CometbftRelease[];
export type Release = (typeof RELEASES)[number];
export type Binaries = Readonly<Record<Release, ChainBinary<Release>>>;

/** A live CometBFT validator on a lab host of its own, in the care of one runtime; it runs the first release. */
export interface LiveNode {
  readonly host: Host;
  readonly rpcPort: number;
  /** The agent's own file on the host. */
  readonly agentConfig: object;
  /** What the control plane would offer. */
  artifactOf(release: Release): { readonly kind: string; readonly url: string; readonly checksum: string };
  /** The same change by hand. The first is what operators do: the product is held to it. */
  readonly byHand: Readonly<Record<string, Way>>;
  /** Puts the node into the agent's care where a change by hand took it away; it answers some time afterwards. */
  readonly handOver?: () => Promise<void>;
  /** Starts the node, which is stopped, as its runtime does; for the measure of the node's own start. */
  readonly own: { readonly stop: string; readonly start: string };
  dispose(): Promise<void>;
}

/** One way to change a node's release. Only `change` is on the clock. */
export interface Way {
  prepare(to: Release): Promise<void>;
  change(to: Release): Promise<void>;
  tidy(): Promise<void>;
}
