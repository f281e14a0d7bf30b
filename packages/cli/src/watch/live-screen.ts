import type { Writer } from '../cli-context.ts';

const CLEAR_TO_END = '\x1b[0J';
const DEFAULT_WIDTH = 120;

/**
 * Lines that stay, and below them on a terminal a frame that is drawn anew. Without a terminal the frame is left out:
 * logs and pipes get lines only.
 */
export class LiveScreen {
  readonly #out: Writer;
  #frame: string[] = [];

  constructor(out: Writer) {
    this.#out = out;
  }

  get isLive(): boolean {
    return this.#out.isTTY === true;
  }

  get width(): number {
    return this.#out.columns ?? DEFAULT_WIDTH;
  }

  /** Adds lines that stay, above the frame. */
  print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#out.write(`${this.#erase()}${lines.join('\n')}\n${this.#text()}`);
  }

  /** Replaces the frame. */
  draw(frame: string): void {
    if (!this.isLive) return;
    const erase = this.#erase();
    this.#frame = frame.split('\n');
    this.#out.write(erase + this.#text());
  }

  /** Leaves the last frame on the screen as ordinary lines. */
  release(): void {
    this.#frame = [];
  }

  #text(): string {
    return this.#frame.length === 0 ? '' : `${this.#frame.join('\n')}\n`;
  }

  #erase(): string {
    return this.#frame.length === 0 ? '' : `\x1b[${this.#frame.length}A\r${CLEAR_TO_END}`;
  }
}
