import { type ChildProcess, spawn } from 'node:child_process';

/** A program to run to its end, as an argument array: no shell reads it. */
export interface CommandCall {
  readonly program: string;
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Milliseconds; then it and all that it started is ended by SIGKILL. */
  readonly timeoutMs: number;
}

/** How a program ended; 127 and a sentence in `output` when it could not be run. */
export interface CommandEnd {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** The last part of what it wrote to stdout and stderr, as it came. */
  readonly output: string;
}

/** What is kept of a program's words: the end of them, where programs say why they failed. */
const KEPT_OUTPUT = 64 * 1024;
/** So long its last words may take to be read; what still holds its output by then was left behind by it. */
const LAST_WORDS_MS = 2_000;

/**
 * Runs one program in a process group of its own, so that nothing it starts outlives it, with a limit of time and of
 * kept output. How it ended is a value; an abort of the signal ends it as its time limit does.
 */
export function runCommand(call: CommandCall, signal: AbortSignal): Promise<CommandEnd> {
  const { program, args, timeoutMs, ...options } = call;
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  return new Promise((resolve) => {
    let output = '';
    let timedOut = false;
    const take = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-KEPT_OUTPUT);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const end = () => {
      timedOut = true;
      endGroup(child);
    };
    const timer = setTimeout(end, timeoutMs);
    let lastWordsTimer: NodeJS.Timeout | undefined;
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    const settle = (answer: Pick<CommandEnd, 'code' | 'killedBy'>) => {
      clearTimeout(timer);
      clearTimeout(lastWordsTimer);
      signal.removeEventListener('abort', end);
      resolve({ ...answer, output, timedOut });
    };
    child.on('error', (error) => {
      output = error.message;
      settle({ code: 127, killedBy: null });
    });
    // a child in a session of its own keeps the output open for as long as it likes: `close` may never come
    child.on('exit', (code, killedBy) => {
      lastWordsTimer = setTimeout(() => {
        endGroup(child);
        child.stdout.destroy();
        child.stderr.destroy();
        settle({ code, killedBy });
      }, LAST_WORDS_MS);
    });
    child.on('close', (code, killedBy) => settle({ code, killedBy }));
  });
}

/** The line that says what is wrong, in brackets: the last one, as programs write it; '' when there is none. */
export function lastWords(output: string): string {
  const line =
    output
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^setpriv: failed to execute /, '')
      .trim() ?? '';
  return line === '' ? '' : ` (${line.slice(0, 500)})`;
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended meanwhile
  }
}
