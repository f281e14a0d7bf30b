import { runCli } from '@hoodcloud/cli/run-cli';
import type { Narrator } from './narrator.ts';

/** A command of hoodctl ended otherwise than the story needs. */
export class OperatorFailed extends Error {
  readonly code = 'operator_failed';
}

/** The person at the terminal: everything that the demo orders goes through hoodctl. */
export class Operator {
  readonly #env: Record<string, string>;
  readonly #narrator: Narrator;
  readonly #interrupted: AbortSignal;

  constructor(to: { url: string; apiKey: string }, narrator: Narrator, interrupted: AbortSignal) {
    this.#env = { HOODCLOUD_URL: to.url, HOODCLOUD_API_KEY: to.apiKey };
    this.#narrator = narrator;
    this.#interrupted = interrupted;
  }

  /**
   * Types a command and lets it talk to the terminal.
   * @param expected exit codes that the story allows
   * @throws OperatorFailed for any other
   */
  async types(words: readonly string[], expected: readonly number[] = [0]): Promise<number> {
    this.#narrator.command(words);
    const code = await this.#run(words, process.stdout);
    if (!expected.includes(code)) throw new OperatorFailed(`hoodctl ${words.join(' ')} ended with ${code}`);
    return code;
  }

  /** Asks quietly for an answer in JSON. @throws OperatorFailed */
  async asks<Answer>(words: readonly string[]): Promise<Answer> {
    let text = '';
    const code = await this.#run([...words, '--output', 'json'], { write: (chunk) => (text += chunk) });
    // 3 says that a person is needed, 1 that a rollout failed: the answer is there all the same
    if (text === '') throw new OperatorFailed(`hoodctl ${words.join(' ')} ended with ${code} and no answer`);
    return JSON.parse(text) as Answer;
  }

  #run(words: readonly string[], out: { write(text: string): unknown }): Promise<number> {
    return runCli(words, {
      env: this.#env,
      out,
      err: process.stderr,
      fetch,
      now: () => new Date(),
      interrupted: this.#interrupted,
    });
  }
}
