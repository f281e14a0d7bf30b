/** Admits so many a second, with a burst of so many: new connects never starve the streams that are there (B6). */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  /** @param now milliseconds of any steady clock */
  constructor(options: { perSecond: number; burst: number; now: number }) {
    this.#perSecond = options.perSecond;
    this.#burst = options.burst;
    this.#tokens = options.burst;
    this.#at = options.now;
  }

  /** Whether one more may pass now. */
  take(now: number): boolean {
    const refill = ((now - this.#at) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + Math.max(0, refill));
    this.#at = Math.max(this.#at, now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
