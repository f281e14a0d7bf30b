import { setTimeout as sleep } from 'node:timers/promises';
import { status } from './cometbft-rpc.ts';

/** What was seen of a chain from outside. */
export interface HeightReport {
  readonly firstHeight: number;
  readonly lastHeight: number;
  /** The longest time without a new height, the time up to the end of the watch included. */
  readonly longestPauseMs: number;
  /** The smallest number of nodes that answered at one moment. */
  readonly fewestUp: number;
  /**
   * The longest time without a new height that began when fewer nodes than make blocks answered; 0 when it never came to that.
   * Counted from the moment that was seen, so never too long.
   */
  readonly longestHaltMs: number;
}

/** How many of so many nodes of equal voting power make blocks: more than two thirds, as CometBFT counts. */
export const nodesThatMakeBlocks = (nodes: number): number => Math.floor((2 * nodes) / 3) + 1;

/** Keeps the tip of a chain over all its nodes. Time is an argument, in ms of any clock. */
export class TipRecord {
  readonly #nodes: number;
  readonly #silent = new Set<number>();
  #first: number | undefined;
  #last = 0;
  #grewAt = 0;
  #longestPause = 0;
  /** Since when too few are seen; undefined while enough are, or blocks come all the same. */
  #tooFewSince: number | undefined;
  #longestHalt = 0;
  #fewestUp: number;

  constructor(nodes: number) {
    this.#nodes = nodes;
    this.#fewestUp = nodes;
  }

  /**
   * One node's answer, `undefined` when it gave none. Nodes count as down only once one of them has answered, and none whose
   * first answer is still awaited.
   */
  observe(node: number, height: number | undefined, atMs: number): void {
    if (height === undefined) this.#silent.add(node);
    else this.#silent.delete(node);
    if (height !== undefined && height > this.#last) this.#grow(height, atMs);
    const isDown = height === undefined && this.#first !== undefined;
    if (isDown) this.#fewestUp = Math.min(this.#fewestUp, this.#nodes - this.#silent.size);
    if (isDown && this.#nodes - this.#silent.size < nodesThatMakeBlocks(this.#nodes)) this.#tooFewSince ??= atMs;
  }

  /** What was seen up to now; undefined when no node has ever answered. */
  report(nowMs: number): HeightReport | undefined {
    if (this.#first === undefined) return undefined;
    return {
      firstHeight: this.#first,
      lastHeight: this.#last,
      longestPauseMs: Math.round(Math.max(this.#longestPause, nowMs - this.#grewAt)),
      fewestUp: this.#fewestUp,
      longestHaltMs: Math.round(Math.max(this.#longestHalt, this.#haltUntil(nowMs))),
    };
  }

  #haltUntil(atMs: number): number {
    return this.#tooFewSince === undefined ? 0 : atMs - this.#tooFewSince;
  }

  #grow(height: number, atMs: number): void {
    if (this.#first === undefined) this.#first = height;
    else this.#longestPause = Math.max(this.#longestPause, atMs - this.#grewAt);
    this.#longestHalt = Math.max(this.#longestHalt, this.#haltUntil(atMs));
    this.#tooFewSince = undefined;
    this.#last = height;
    this.#grewAt = atMs;
  }
}

/** The chain never answered while it was watched. */
export class ChainNeverSeen extends Error {
  readonly code = 'chain_never_seen';
}

/** A node that answers no sooner is down; one whose port is closed is so at once. Loaded machines are slow. */
const ANSWER_MS = 5_000;

/** Watches a live chain over all its RPC addresses until it is stopped. */
export class HeightWatcher {
  readonly #record: TipRecord;
  readonly #ending = new AbortController();
  readonly #loops: Promise<void>[];

  /** Starts at once; every node is asked each `intervalMs`, on its own, so that a silent one delays no other. */
  constructor(rpcUrls: readonly string[], intervalMs = 250) {
    this.#record = new TipRecord(rpcUrls.length);
    this.#loops = rpcUrls.map((url, node) => this.#watch(url, node, intervalMs));
  }

  /** The report up to this moment, undefined before the first answer. */
  get report(): HeightReport | undefined {
    return this.#record.report(performance.now());
  }

  /**
   * Ends the watch.
   * @throws ChainNeverSeen when no node answered even once
   */
  async stop(): Promise<HeightReport> {
    const { report } = this;
    await this.close();
    if (report === undefined) throw new ChainNeverSeen('no node of the chain answered while it was watched');
    return report;
  }

  /** Ends the watch without a word; may be called again. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#loops);
  }

  async #watch(url: string, node: number, intervalMs: number): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const height = await status(url, ANSWER_MS).then(
        (answer) => answer.height,
        () => undefined, // a node that does not answer is what is being recorded
      );
      this.#record.observe(node, height, performance.now());
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined); // ends early with the watch
    }
  }
}
