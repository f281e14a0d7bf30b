import type { ChainProfile } from '@hoodcloud/contracts/files/chain-profile';

/** The `health` part of a chain's profile, its duties, and which metrics tell the nodes' voting power. */
export type ChainHealth = ChainProfile['health'] & {
  readonly duties?: ChainProfile['duties'];
  readonly quorum?: ChainProfile['quorum'];
};

/** Where the chains' health rules come from; null for a chain without a readable profile: then nothing is judged. */
export type ChainHealthSource = (chainProfileId: string) => Promise<ChainHealth | null>;
