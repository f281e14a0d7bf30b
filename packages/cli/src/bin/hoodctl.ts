#!/usr/bin/env node
import { runCli } from '../run-cli.ts';

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0); // `hoodctl … | head` has read enough
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  fetch,
  now: () => new Date(),
  interrupted: interrupt.signal,
});
