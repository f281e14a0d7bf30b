import type { Validator } from '@hoodcloud/testkit/chains/cometbft-network';

/** A release of the chain's program on this machine. */
export interface DemoRelease {
  readonly version: string;
  readonly path: string;
  /** Hex, without a prefix. */
  readonly sha256: string;
}

/** The three releases of the story. */
export interface DemoReleases {
  readonly old: DemoRelease;
  readonly good: DemoRelease;
  /** Offered as compatible, but it ends at once on the data of the others. Not needed before its scene, so it may still be built. */
  readonly bad: Promise<DemoRelease>;
}

/** What the chain of a demo is made of; CometBFT's, or the stand-in's, which speaks the same RPC and metrics. */
export interface DemoChain {
  readonly kind: 'cometbft' | 'stand-in';
  readonly chainProfileId: string;
  readonly binaryName: string;
  readonly releases: DemoReleases;
  readonly validators: readonly Validator[];
  /** Arguments after the program's path: the validator then runs in the foreground. */
  readonly startArguments: (validator: Validator) => readonly string[];
}

export const VALIDATORS = 4;
export const NODE_TYPE = 'validator';

/** Version by SHA-256 of every release of the story. */
export async function versionNames({ old, good, bad }: DemoReleases): Promise<ReadonlyMap<string, string>> {
  return new Map([old, good, await bad].map(({ sha256, version }) => [sha256, version]));
}
