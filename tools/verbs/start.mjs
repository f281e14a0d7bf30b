import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

/** `start [arguments]`: every role in one process, Postgres and Temporal as its children. */
export async function run(args) {
  await setUp({ stores: true });
  return runTypeScript('packages/controlplane/src/bin/hoodcloud.ts', ['dev', ...args]);
}
