import type { Command } from 'commander';
import { ApiClient } from './api/api-client.ts';
import type { CliContext, Terminal } from './cli-context.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { type OutputFormat, renderOutput } from './output/output.ts';
import { resolveConnection } from './session/connection.ts';

/** Options that every command has. */
export interface GlobalOptions {
  readonly url?: string;
  readonly apiKey?: string;
  readonly output: OutputFormat;
  readonly plain?: boolean;
}

/** What a command works with: the API, the answer, and remarks beside it. */
export class CommandIo {
  readonly context: CliContext;
  readonly #options: GlobalOptions;

  constructor(context: CliContext, options: GlobalOptions) {
    this.context = context;
    this.#options = options;
  }

  get format(): OutputFormat {
    return this.#options.output;
  }

  /** The terminal for a full-screen view; null where lines are wanted, or all there can be. */
  get terminal(): Terminal | null {
    return this.#options.plain === true || this.format !== 'table' ? null : (this.context.terminal ?? null);
  }

  /** @throws UsageError when it isn't known whom to talk to */
  async api(): Promise<ApiClient> {
    return new ApiClient(await resolveConnection(this.#options, this.context.env), this.context);
  }

  /** Shows the answer: the API's own value for machines, `text` for people. */
  answer<Value>(value: Value, text: (value: Value) => string): void {
    this.context.out.write(renderOutput(this.#options.output, value, text));
  }

  /** One of many answers of a watch, each whole by itself: a line of JSON, a document of YAML. Nothing for people. */
  tell(value: unknown): void {
    if (this.format === 'json') this.context.out.write(`${JSON.stringify(value)}\n`);
    if (this.format === 'yaml') this.context.out.write(`---\n${renderOutput('yaml', value, () => '')}`);
  }

  /** A remark for people, on stderr so that it never mixes with an answer; left out for machines. */
  remark(text: string): void {
    if (this.#options.output === 'table') this.context.err.write(`${text}\n`);
  }
}

/** A command's work: its arguments in order, then its options with the global ones. Nothing returned means done. */
export type Work<Options> = (
  io: CommandIo,
  args: readonly string[],
  options: Options & GlobalOptions,
) => Promise<ExitCode | undefined> | Promise<void>;

/** Makes commander's action of a command's work; the exit code goes to whoever runs the program. */
export type Act = <Options>(work: Work<Options>) => (...given: unknown[]) => Promise<void>;

/** @param ended gets the exit code of the command that ran */
export function actIn(context: CliContext, ended: (code: ExitCode) => void): Act {
  return (work) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      const options = command.optsWithGlobals();
      const args = command.processedArgs.flat().filter((arg): arg is string => typeof arg === 'string');
      ended((await work(new CommandIo(context, options as GlobalOptions), args, options as never)) ?? EXIT.done);
    };
}
