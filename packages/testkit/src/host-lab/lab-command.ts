import { type ExecFileException, execFile } from 'node:child_process';

/** What one command said. `code` is its exit code, or 128 when a signal ended it. */
export interface CommandOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** A lab could not do what a test asked of it; carries what the mechanism printed. */
export class HostLabError extends Error {
  readonly code = 'host_lab_failed';
}

/** Runs a program to its end; rejects only when it could not be started. `input` becomes its standard input. */
export function runCommand(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input: string | Buffer,
): Promise<CommandOutcome> {
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, { env, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number' && error.signal === undefined) return reject(error);
      resolve({ stdout, stderr, code: exitCode(error) });
    });
    child.stdin?.on('error', () => undefined); // the command may end without reading its input
    child.stdin?.end(input);
  });
}

function exitCode(error: ExecFileException | null): number {
  if (error === null) return 0;
  return typeof error.code === 'number' ? error.code : 128;
}
