import { CommanderError } from 'commander';
import type { CliContext } from './cli-context.ts';
import { CliError, renderError } from './cli-error.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { buildProgram } from './program.ts';

/** Runs one command line (without node and script) and answers the exit code; errors are shown, never thrown. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  try {
    await buildProgram(context, (ended) => {
      code = ended;
    }).parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (context.interrupted.aborted) return EXIT.left;
    if (!(error instanceof CliError)) throw error;
    context.err.write(renderError(error));
    return error.exitCode;
  }
}
