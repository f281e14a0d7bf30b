import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';
import { prepareTier } from './test/tiers.mjs';

/** `test:faults`: ten rollouts at once while databases, engine, NATS and roles are killed; some minutes (docs/testing.md). */
export async function run(args) {
  await setUp({ stores: true });
  await prepareTier('db');
  return runTypeScript('test/faults/ten-rollouts.ts', args);
}
