import type { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type { OfferedVersion, RealChain, RealVersion } from '../stack/real-chain.ts';

/** What a chain's data show from outside: must be kept, whatever is done to the node. */
export interface ChainState {
  readonly height: number;
  /** The state that a rewound or wiped database would lose: balances, the hash of an old block. */
  readonly kept: Readonly<Record<string, string>>;
}

/** A real node on a lab host of its own, and the release that can't open its data. */
export interface RealNode {
  readonly chain: RealChain;
  readonly host: Host;
  readonly running: RealVersion;
  /** The version that can't open the data, and its `upgrade_id`. */
  readonly refused: string;
  /** Makes the refused release available to the host. */
  offer(artifacts: ArtifactServer): Promise<OfferedVersion>;
  /** The agent's entry for the node. */
  readonly component: object;
  /** Reads height and state; `atBlock` says of which old block. @throws while the node doesn't answer */
  look(atBlock?: number): Promise<ChainState>;
  /** What the refused release writes before it ends: the operator must read it. */
  readonly refusal: RegExp;
  /** SHA-256 of what runs, or digest of the image that the container runs. */
  runs(): Promise<string>;
}
