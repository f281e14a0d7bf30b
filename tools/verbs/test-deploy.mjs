import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';
import { prepareTier } from './test/tiers.mjs';

/**
 * `test:deploy [--keep]`: deploy/compose.yaml with images of this work tree on an engine of its own: a rollout over it, an upgrade of
 * the control plane in the middle of one, a backup and its restore in the middle of another (docs/testing.md).
 */
export async function run(args) {
  await setUp({ stores: true });
  const refusal = await prepareTier('host');
  if (refusal) {
    console.error(refusal);
    return 2;
  }
  const { goTool } = await import('../deploy/go-tools.mjs');
  return runTypeScript('test/deploy/compose-stack.ts', [await goTool('docker-compose'), ...args]);
}
