#!/usr/bin/env node
import { runCli } from '../run-cli.ts';

const interrupt = new AbortController();
// All three end a watch the same way, so that it gives the terminal back first. The listener stays until the others were
// asked: Ink's would end the program at once if it were alone. A second signal ends it at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  const end = () => {
    interrupt.abort();
    setImmediate(() => process.off(signal, end));
  };
  process.on(signal, end);
}
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0); // `hoodctl … | head` has read enough
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  terminal: process.stdin.isTTY && process.stdout.isTTY ? { stdin: process.stdin, stdout: process.stdout } : null,
  fetch,
  now: () => new Date(),
  interrupted: interrupt.signal,
});
