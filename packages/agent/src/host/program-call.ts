import { execFile } from 'node:child_process';

/** What a call of a program gave. */
export interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As whom and where a program runs; by default as this process does. */
export interface CallAs {
  readonly uid?: number;
  readonly gid?: number;
  readonly cwd?: string;
  /** Beside the plain environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a program of the host with an argument array to its end; its exit code is a value.
 * Rejects when it can't be run (`ENOENT`), and with the signal's reason.
 */
export function callProgram(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
  as: CallAs = {},
): Promise<Called> {
  const options = { ...as, signal, maxBuffer: 64 << 20, env: { ...plainEnvironment(), ...as.env } };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (signal.aborted) reject(signal.reason);
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
      else reject(error);
    });
  });
}

/** Answers are parsed, so they must come without colours and translations. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C.UTF-8', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' };
}
