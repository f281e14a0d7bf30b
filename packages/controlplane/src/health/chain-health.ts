import type { ChainProfile } from '@hoodcloud/contracts/files/chain-profile';

/** The `health` part of a chain's profile. */
export type ChainHealth = ChainProfile['health'];

/** Where the chains' health rules come from; null for a chain without a readable profile: then nothing is judged. */
export type ChainHealthSource = (chainProfileId: string) => Promise<ChainHealth | null>;
