const BOLD = process.stdout.isTTY && !process.env.NO_COLOR ? ['\x1b[1m', '\x1b[0m'] : ['', ''];

/** Tells the story on standard output; whatever is said comes with the seconds since the demo began. */
export class Narrator {
  readonly #began = performance.now();

  /** A new part of the story. */
  scene(title: string): void {
    process.stdout.write(`\n${BOLD[0]}── ${title} ${'─'.repeat(Math.max(2, 96 - title.length))}${BOLD[1]}\n`);
  }

  /** One remark. */
  say(text: string): void {
    process.stdout.write(`${this.#clock()}  ${text}\n`);
  }

  /** A command as one would type it. */
  command(words: readonly string[]): void {
    process.stdout.write(`\n${BOLD[0]}$ hoodctl ${words.map(quoted).join(' ')}${BOLD[1]}\n`);
  }

  #clock(): string {
    return `${((performance.now() - this.#began) / 1000).toFixed(1).padStart(6)} s`;
  }
}

/** Runs a part and answers its result with the seconds it took, one decimal. */
export async function timed<Result>(part: () => Promise<Result>): Promise<{ result: Result; seconds: number }> {
  const began = performance.now();
  const result = await part();
  return { result, seconds: Math.round((performance.now() - began) / 100) / 10 };
}

/** A word as a shell wants it. */
const quoted = (word: string): string => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
