import type { Logger } from '../feature.ts';
import type { ChainHealth, ChainHealthSource } from './chain-health.ts';
import { type ChainJudge, compileChainJudge } from './chain-judge.ts';

/** How long a profile is taken as unchanged; a changed expression is in force that soon. */
const FRESH_MS = 10_000;

export interface KnownChain {
  readonly health: ChainHealth;
  readonly judge: ChainJudge;
}

interface Entry {
  readonly known: KnownChain | null;
  readonly text: string;
  readonly readAt: number;
}

/** Compiled judges by chain; a profile is read again now and then and compiled anew only when it changed. */
export class ChainJudges {
  readonly #source: ChainHealthSource;
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();

  constructor(source: ChainHealthSource, log: Logger) {
    this.#source = source;
    this.#log = log;
  }

  /** The chain's rules; null when its profile is missing or broken (said in the log; nothing is called healthy then). */
  async of(chainProfileId: string): Promise<KnownChain | null> {
    const before = this.#entries.get(chainProfileId);
    if (before && Date.now() - before.readAt < FRESH_MS) return before.known;
    const entry = await this.#read(chainProfileId, before);
    this.#entries.set(chainProfileId, entry);
    return entry.known;
  }

  async #read(chainProfileId: string, before: Entry | undefined): Promise<Entry> {
    const readAt = Date.now();
    try {
      const health = await this.#source(chainProfileId);
      const text = JSON.stringify(health);
      if (before?.text === text) return { ...before, readAt };
      return { known: health && { health, judge: compileChainJudge(health) }, text, readAt };
    } catch (error) {
      this.#log.error({ err: error, chain_profile_id: chainProfileId }, 'the chain profile can not be used');
      // A profile that is being edited must not blind the fleet: the last good one stays in force.
      return before ? { ...before, readAt } : { known: null, text: '', readAt };
    }
  }
}
