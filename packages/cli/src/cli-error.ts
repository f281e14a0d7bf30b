import { EXIT, type ExitCode } from './exit-code.ts';

/** A failure that the operator reads: one sentence, details as lines, and the command that helps next. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly details: readonly string[];
  readonly next: string | null;

  constructor(
    message: string,
    options: { exitCode?: ExitCode; details?: readonly string[]; next?: string; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? EXIT.failed;
    this.details = options.details ?? [];
    this.next = options.next ?? null;
  }
}

/** The command line, or a file it names, is wrong. */
export class UsageError extends CliError {
  constructor(message: string, options: { details?: readonly string[]; next?: string } = {}) {
    super(message, { ...options, exitCode: EXIT.usage });
    this.name = 'UsageError';
  }
}

/** The error as the terminal shows it. */
export function renderError(error: CliError): string {
  const lines = [`✗ ${error.message}`, ...error.details.map((detail) => `  ${detail}`)];
  if (error.next) lines.push(`  Next: ${error.next}`);
  return `${lines.join('\n')}\n`;
}
