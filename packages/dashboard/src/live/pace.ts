/** Times in milliseconds; `now` and `later` are the browser's, another one's in tests. */
export interface PaceOptions {
  /** News come in bursts: work begins this long after the first of one. */
  readonly gatherMs: number;
  /** At least this long between the end of one piece of work and the beginning of the next. */
  readonly restMs: number;
  /** And at least so many times what the last piece took, so that a slow server is asked less, not more. */
  readonly restTimes: number;
}

/**
 * Does `work` soon after it was asked for, once for everybody who asked meanwhile, and never so often that it is all that is
 * done: after each piece there is a rest in proportion to what it cost.
 */
export class Pace {
  readonly #work: () => Promise<unknown>;
  readonly #options: PaceOptions;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #working = false;
  #wanted = false;
  #notBefore = 0;

  constructor(work: () => Promise<unknown>, options: PaceOptions) {
    this.#work = work;
    this.#options = options;
  }

  ask(): void {
    if (this.#working) this.#wanted = true;
    else if (this.#timer === null) {
      const wait = Math.max(this.#options.gatherMs, this.#notBefore - Date.now());
      this.#timer = setTimeout(() => void this.#do(), wait);
    }
  }

  /** Nothing is begun any more. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#working = true;
  }

  async #do(): Promise<void> {
    this.#timer = null;
    this.#working = true;
    this.#wanted = false;
    const began = Date.now();
    await this.#work().catch(() => undefined); // whoever shows the data shows why it could not be had
    const ended = Date.now();
    this.#notBefore = ended + Math.max(this.#options.restMs, (ended - began) * this.#options.restTimes);
    this.#working = false;
    if (this.#wanted) this.ask();
  }
}
