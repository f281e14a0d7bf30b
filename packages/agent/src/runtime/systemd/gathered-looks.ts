import type { Called } from '../../host/program-call.ts';

/** Asks about units, and answers their descriptions in the order of the names, an empty line between two. */
type AskAbout = (units: readonly string[]) => Promise<Called>;

interface Round {
  readonly units: Set<string>;
  readonly answers: Promise<ReadonlyMap<string, Called>>;
}

/**
 * Makes one call of what is asked about several units in the same turn of the event loop, as a heartbeat does: the start
 * of a program is most of what a look costs. Nothing is kept: the call starts after every question that it answers was
 * asked, so each answer is as fresh as a call of its own.
 */
export class GatheredLooks {
  readonly #ask: AskAbout;
  #round: Round | null = null;

  constructor(ask: AskAbout) {
    this.#ask = ask;
  }

  /** What a call for this unit alone would have given; rejects as that one. */
  async of(unit: string): Promise<Called> {
    this.#round ??= this.#open();
    const { units, answers } = this.#round;
    units.add(unit);
    return (await answers).get(unit) ?? this.#ask([unit]);
  }

  #open(): Round {
    const units = new Set<string>();
    const answers = Promise.resolve().then(() => {
      this.#round = null; // whoever comes from here on is answered by a later call
      return this.#together([...units]);
    });
    return { units, answers };
  }

  /** Without the units that have to be asked about alone. */
  async #together(units: readonly string[]): Promise<ReadonlyMap<string, Called>> {
    const [first = '', ...others] = units;
    const called = await this.#ask(units);
    if (others.length === 0) return new Map([[first, called]]);
    const parts = called.stdout.split('\n\n').filter((part) => part.trim() !== '');
    // a name that systemd refuses is nobody else's trouble, and one that stands for several units would shift the rest
    if (called.code !== 0 || parts.length !== units.length) return new Map();
    return new Map(parts.map((stdout, index) => [units[index] ?? '', { ...called, stdout }]));
  }
}
