import { DemoUsageError, parseDemoArguments } from './demo-arguments.ts';
import { playDemo } from './play-demo.ts';

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupt.abort());

try {
  await playDemo(parseDemoArguments(process.argv.slice(2)), interrupt.signal);
} catch (error) {
  process.exitCode = exitCodeFor(error);
}

/** Errors with a code were foreseen: their sentence is enough. Anything else is a bug and shows where it is. */
function exitCodeFor(error: unknown): number {
  if (interrupt.signal.aborted) return 130;
  if (!(error instanceof Error && 'code' in error)) throw error;
  console.error(`\n✗ ${error.message}`);
  return error instanceof DemoUsageError ? 2 : 1;
}
